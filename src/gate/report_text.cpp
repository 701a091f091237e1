#include <fmt/format.h>

#include <cmath>

#include "base/safe_text.hpp"
#include "gate/compared_kernels.hpp"
#include "gate/report.hpp"

namespace attnprof {
namespace {

std::string change(const Comparison& comparison) {
  if (!std::isfinite(comparison.worsening)) return "from 0";
  const double share = (comparison.current - comparison.baseline) / std::abs(comparison.baseline);
  return fmt::format("{:+.2f} %", 100 * share);
}

std::string tile_of(const Table& table, size_t row) {
  const std::string &br = table.fact(row, Fact::br), &bc = table.fact(row, Fact::bc),
                    &knobs = table.fact(row, Fact::knobs_used);
  std::string text = br.empty() ? "none" : bc.empty() ? br : fmt::format("{}x{}", br, bc);
  return knobs.empty() || knobs == "-" ? text : text + " " + knobs;
}

std::string reason_of(const Table& table, size_t row) {
  const std::string& reason = table.reason(row);
  return fmt::format("{}{}{}", table.disposition(row), reason.empty() ? "" : ": ", reason);
}

std::string at_line(const Table& table, size_t row) {
  return fmt::format("{}, line {}", table.file(), table.line(row));
}

std::string what_happened(const GateResult& result, const Event& event) {
  const Table &baseline = *result.baseline, &current = *result.current;
  switch (event.kind) {
    case Event::Kind::not_ok:
      return reason_of(current, event.current);
    case Event::Kind::missing:
      return fmt::format("only in {}", at_line(baseline, event.baseline));
    case Event::Kind::tile:
      return fmt::format("{} -> {}", tile_of(baseline, event.baseline), tile_of(current, event.current));
    case Event::Kind::now_ok:
      return fmt::format("was {}", reason_of(baseline, event.baseline));
    case Event::Kind::added:
      return fmt::format("{}, only in {}", current.disposition(event.current),
                         at_line(current, event.current));
  }
  return "";
}

class Lines {
 public:
  Lines(const GateResult& result, size_t most) : result_(result), most_(most) {}
  void add(Verdict verdict) {
    for (const Comparison& comparison : result_.different)
      if (comparison.judgement.verdict == verdict && lines_.size() < most_)
        lines_.push_back({std::string(to_string(verdict)), describe_change(result_, comparison),
                          result_.current->label(result_.pairs[comparison.pair].current)});
  }
  void add(Event::Kind kind) {
    for (const Event& event : result_.events) {
      if (event.kind != kind || lines_.size() >= most_) continue;
      const bool gone = kind == Event::Kind::missing;
      lines_.push_back(
          {std::string(to_string(kind)), what_happened(result_, event),
           gone ? result_.baseline->label(event.baseline) : result_.current->label(event.current)});
    }
  }
  std::vector<GateLine> take() { return std::move(lines_); }

 private:
  const GateResult& result_;
  size_t most_;
  std::vector<GateLine> lines_;
};

// What helps where rows are missing from the runs that were chosen.
std::string advice_on_missing(const GateResult& result, const std::string& otherwise) {
  if (result.in_other_runs == 0) return otherwise;
  return fmt::format(
      "{} of the missing rows are in other runs of {}: --run newest takes every case's last row",
      result.in_other_runs, result.current->file());
}

std::string advice(const GateResult& result) {
  const std::string update =
      fmt::format("attnprof baseline update {} {}", result.baseline->file(), result.current->file());
  if (result.compared == 0)
    return ", which is no pass: " + advice_on_missing(result, "do both files hold the same cases, measured?");
  if (result.count(Event::Kind::not_ok) > 0) return "; the rows that are no longer ok say why";
  if (result.count(Verdict::worse) > 0)
    return fmt::format("; if this is meant, renew the baseline: {} --accept-regressions", update);
  if (result.count(Event::Kind::missing) > 0)
    return "; " + advice_on_missing(
                      result, "measure the missing rows, or give --allow-missing for a part of the plan");
  if (result.count(Verdict::ambiguous) > 0)
    return "; measure the ambiguous rows again, as attnprof sweep --gate does by itself";
  if (result.count(Verdict::better) > 0) return fmt::format("; keep the gain with {}", update);
  return "";
}

}  // namespace

std::string describe_change(const GateResult& result, const Comparison& comparison) {
  const Metric& metric = result.baseline->layout().metrics[comparison.metric];
  std::string why = comparison.judgement.why;
  if (comparison.judgement.verdict == Verdict::worse)
    why = human_allowance(metric) + (why.empty() ? "" : "; " + why);
  return fmt::format("{} {} -> {} ({}{}{})", metric.column, human_value(metric, comparison.baseline),
                     human_value(metric, comparison.current), change(comparison), why.empty() ? "" : ", ",
                     why);
}

std::vector<GateLine> gate_lines(const GateResult& result, size_t most) {
  Lines lines(result, most);
  lines.add(Event::Kind::not_ok);
  lines.add(Verdict::worse);
  lines.add(Event::Kind::missing);
  lines.add(Verdict::ambiguous);
  lines.add(Event::Kind::tile);
  lines.add(Verdict::better);
  lines.add(Event::Kind::now_ok);
  lines.add(Event::Kind::added);
  return lines.take();
}

size_t gate_line_count(const GateResult& result) { return result.different.size() + result.events.size(); }

std::string gate_summary(const GateResult& result) {
  const auto counted = [](size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text = fmt::format("gate {}: {} and {} compared",
                                 result.compared == 0 ? "compared nothing"
                                 : result.failed      ? "failed"
                                                      : "passed",
                                 counted(result.pairs.size(), "row"), counted(result.compared, "value"));
  for (Verdict verdict : {Verdict::worse, Verdict::ambiguous, Verdict::better})
    if (const size_t count = result.count(verdict)) text += fmt::format(", {} {}", count, to_string(verdict));
  for (Event::Kind kind :
       {Event::Kind::missing, Event::Kind::not_ok, Event::Kind::now_ok, Event::Kind::added})
    if (const size_t count = result.count(kind)) text += fmt::format(", {} {}", count, to_string(kind));
  return text + advice(result);
}

std::string gate_text(const GateResult& result, size_t most) {
  std::string text;
  for (const std::string& warning : result.warnings) text += fmt::format("warning: {}\n", printable(warning));
  for (const GateLine& line : gate_lines(result, most))
    text += fmt::format("{:<12} {}: {}\n", line.verdict, printable(line.row), printable(line.what));
  if (const size_t all = gate_line_count(result); all > most)
    text += fmt::format("... and {} more; --json has all\n", all - most);
  if (const std::string kernels = kernels_sentence(result); !kernels.empty())
    text += printable(kernels) + "\n";
  return text + printable(gate_summary(result)) + "\n";
}

}  // namespace attnprof
