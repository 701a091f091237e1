#include "gate/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/shell_word.hpp"

namespace attnprof {
namespace {

struct FailOnName {
  FailOn what;
  std::string_view name;
  Category category;  // `other`: of no metric
};
constexpr std::array fail_on_names = {FailOnName{FailOn::latency, "latency", Category::latency},
                                      FailOnName{FailOn::bytes, "bytes", Category::bytes},
                                      FailOnName{FailOn::flops, "flops", Category::flops},
                                      FailOnName{FailOn::build, "build", Category::build},
                                      FailOnName{FailOn::missing, "missing", Category::other},
                                      FailOnName{FailOn::ambiguous, "ambiguous", Category::other}};

bool any_worse(const GateResult& result, Category category) {
  return std::ranges::any_of(result.different, [&](const Comparison& comparison) {
    return comparison.judgement.verdict == Verdict::worse &&
           result.baseline->layout().metrics[comparison.metric].category == category;
  });
}

// Whether it fails the gate now.
bool is_met(const GateReport& report, const FailOnName& one) {
  if (one.what == FailOn::ambiguous) return report.count(RowState::ambiguous) > 0;
  if (one.what == FailOn::missing) return report.count(RowState::missing) > 0;
  return any_worse(report.result, one.category);
}

// The --fail-on that lets what became worse, and rows that are missing beside it, pass, and nothing else;
// empty where none does.
std::string fail_on_without(const GateReport& report) {
  if (any_worse(report.result, Category::other)) return "";
  std::vector<std::string_view> kept;
  for (const FailOnName& one : fail_on_names)
    if (report.options.fail_on.contains(one.what) && !is_met(report, one)) kept.push_back(one.name);
  return kept.empty() ? "" : fmt::format("{}", fmt::join(kept, ","));
}

std::string update_command(const GateReport& report, std::string_view also) {
  std::string command =
      fmt::format("attnprof baseline update {} {}", shell_file(report.result.baseline->file()),
                  shell_file(report.result.current->file()));
  if (!report.options.given.empty()) command += " " + shell_words(report.options.given);
  return command + std::string(also);
}

Advice with_update(const GateReport& report, const std::string& sentence, std::string_view also) {
  if (report.options.renewable) return {sentence, update_command(report, also)};
  return {sentence + ", from a file of these rows (-o FILE.csv): attnprof baseline update --help", ""};
}

Advice on_worse(const GateReport& report) {
  if (report.options.against == Against::baseline)
    return with_update(report, "if this is meant, renew the baseline", " --accept-regressions");
  const std::string rest = fail_on_without(report);
  if (rest.empty())
    return {"if this is meant, merge without this gate: no option of it lets these rows pass", ""};
  return {"if this is meant, let this pull request pass with --fail-on " + rest, ""};
}

Advice on_better(const GateReport& report) {
  if (report.options.against == Against::merge_base) return {};
  return with_update(report, "keep the gain in the baseline", "");
}

// What helps where rows are missing from the runs that were chosen.
std::string on_missing(const GateReport& report, std::string_view otherwise) {
  const GateResult& result = report.result;
  if (result.in_other_runs == 0) return std::string(otherwise);
  return fmt::format(
      "{} of the missing rows are in other runs of {}: --run newest takes every case's last row",
      result.in_other_runs, result.current->file());
}

std::string_view how_to_have_all(const GateReport& report) {
  return report.options.against == Against::baseline
             ? "measure the missing rows, or give --allow-missing for a part of the plan"
             : "give --allow-missing where the pull request takes these rows away on purpose";
}

}  // namespace

Advice gate_advice(const GateReport& report) {
  if (report.result.compared_nothing())
    return {"to compare nothing is no pass: " +
                on_missing(report, "do both files hold the same cases, measured?"),
            ""};
  if (report.count(RowState::not_ok) > 0) return {"the rows that are no longer ok say why", ""};
  if (report.count(RowState::worse) > 0) return report.result.failed ? on_worse(report) : Advice{};
  if (report.count(RowState::missing) > 0) return {on_missing(report, how_to_have_all(report)), ""};
  if (report.count(RowState::ambiguous) > 0)
    return {"measure the ambiguous rows again, as attnprof sweep --gate does by itself", ""};
  return report.count(RowState::better) > 0 ? on_better(report) : Advice{};
}

std::string joined(const Advice& advice) {
  return advice.command.empty() ? advice.sentence : advice.sentence + ": " + advice.command;
}

}  // namespace attnprof
