#include "gate/gate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <future>
#include <unordered_map>
#include <unordered_set>

#include "gate/compared_kernels.hpp"
#include "gate/match.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

Timing timing_of(const Table& table, size_t row, size_t metric) {
  return {.median_ns = *table.value(row, metric),
          .low_ns = table.extra(row, Extra::ci_low),
          .high_ns = table.extra(row, Extra::ci_high),
          .cycles = table.extra(row, Extra::sm_cycles),
          .clock_mhz = table.extra(row, Extra::sm_clock),
          .flags = table.fact(row, Fact::flags)};
}

HbmCounts hbm_counts_of(const Table& table, size_t row, size_t metric) {
  return {.bytes = *table.value(row, metric),
          .spread_pct = table.extra(row, Extra::hbm_spread),
          .counts = table.extra(row, Extra::hbm_counts)};
}

// Blocks of another size are counted by their warps.
Judgement judge_blocks(const Metric& metric, const Table& baseline, const Table& current, const RowPair& pair,
                       size_t index) {
  const auto old_warps = baseline.warps(pair.baseline), new_warps = current.warps(pair.current);
  if (old_warps && new_warps) return judge_amount(metric, *old_warps, *new_warps);
  return judge_amount(metric, *baseline.value(pair.baseline, index), *current.value(pair.current, index));
}

Judgement judge(const Table& baseline, const Table& current, const RowPair& pair, size_t index) {
  const Metric& metric = baseline.layout().metrics[index];
  const double old_value = *baseline.value(pair.baseline, index),
               new_value = *current.value(pair.current, index);
  if (metric.by_blocks)
    return judge_by_warps(metric, old_value, new_value, baseline.warps(pair.baseline),
                          current.warps(pair.current));
  if (metric.column == ctas_per_sm_column) return judge_blocks(metric, baseline, current, pair, index);
  if (metric.category == Category::latency)
    return judge_latency(metric, timing_of(baseline, pair.baseline, index),
                         timing_of(current, pair.current, index));
  if (metric.column == "hbm_bytes")
    return judge_hbm(metric, hbm_counts_of(baseline, pair.baseline, index),
                     hbm_counts_of(current, pair.current, index));
  return judge_amount(metric, old_value, new_value);
}

bool left_out(const Metric& metric, const RowPair& pair) {
  if (metric.category == Category::latency) return !pair.time;
  return (metric.category == Category::bytes || metric.category == Category::flops) && !pair.counts;
}

std::string_view maker(Source source) {
  constexpr std::array names = {"attnprof sweep", "attnprof compile", "attnprof resources", "another tool"};
  return names[static_cast<size_t>(source)];
}

// Both files as one: same kind, and what is warned of.
void check_layouts(const Table& baseline, const Table& current, GateResult& result) {
  if (baseline.layout().source != current.layout().source)
    throw UsageError(fmt::format("{} and {} are of different kinds: one is a result of {}, the other of {}",
                                 baseline.file(), current.file(), maker(baseline.layout().source),
                                 maker(current.layout().source)));
  for (const Table* table : {&baseline, &current})
    if (const auto unknown = table->unknown_columns(); !unknown.empty())
      result.warnings.push_back(fmt::format("{}: unknown column{} {} {} not compared", table->file(),
                                            unknown.size() == 1 ? "" : "s", fmt::join(unknown, ", "),
                                            unknown.size() == 1 ? "is" : "are"));
}

// Of the rows that are missing, those that the current file has after all, in runs that were not chosen.
void count_in_other_runs(GateResult& result) {
  if (result.count(Event::Kind::missing) == 0) return;
  std::unordered_set<std::string_view> keys;
  for (uint32_t row = 0; row < result.current->rows(); ++row) keys.insert(result.current->key(row));
  for (const Event& event : result.events)
    if (event.kind == Event::Kind::missing)
      result.in_other_runs += keys.contains(result.baseline->key(event.baseline));
}

void match_rows(const Selection& old_rows, const Selection& new_rows, const Table& baseline,
                const Table& current, GateResult& result) {
  const std::unordered_map<uint32_t, uint32_t> matches = matching_rows(old_rows, new_rows, baseline, current);
  std::unordered_set<uint32_t> matched;
  for (const uint32_t row : new_rows.rows) {
    const auto found = matches.find(row);
    if (found == matches.end()) {
      result.events.push_back({Event::Kind::added, 0, row});
      continue;
    }
    matched.insert(found->second);
    result.pairs.push_back({.baseline = found->second, .current = row, .time = true, .counts = true});
  }
  for (const uint32_t row : old_rows.rows)
    if (baseline.ok(row) && !matched.contains(row)) result.events.push_back({Event::Kind::missing, row, 0});
  count_in_other_runs(result);
}

// Changes of a row whose uncertainty is above the threshold can stay hidden, whatever its verdict.
void note_scatter(const Comparison& comparison, GateResult& result) {
  const double relative = result.baseline->layout().metrics[comparison.metric].relative;
  if (comparison.judgement.uncertainty <= relative) return;
  ++result.scattered;
  if (comparison.judgement.uncertainty <= result.worst_scatter) return;
  result.worst_scatter = comparison.judgement.uncertainty;
  result.worst_scattered = comparison.pair;
}

void warn_of_scatter(GateResult& result) {
  if (result.scattered == 0) return;
  result.warnings.push_back(fmt::format(
      "hbm_bytes of {} row{} scatter{} by more than the threshold, as they do where L2 is nearly full: of "
      "{}, no change under {:.1f} % is certain",
      result.scattered, result.scattered == 1 ? "" : "s", result.scattered == 1 ? "s" : "",
      result.current->label(result.pairs[result.worst_scattered].current), 100 * result.worst_scatter));
}

void compare_pair(size_t index, GateResult& result) {
  const Table &baseline = *result.baseline, &current = *result.current;
  const RowPair& pair = result.pairs[index];
  const bool was_ok = baseline.ok(pair.baseline), is_ok = current.ok(pair.current);
  if (was_ok != is_ok)
    result.events.push_back(
        {was_ok ? Event::Kind::not_ok : Event::Kind::now_ok, pair.baseline, pair.current});
  if (!was_ok || !is_ok) return;
  if (!same_resolved(baseline, current, pair))
    result.events.push_back({Event::Kind::tile, pair.baseline, pair.current});
  for (size_t metric = 0; metric < baseline.layout().metrics.size(); ++metric) {
    auto comparison = compare(baseline, current, pair, metric);
    if (!comparison) continue;
    ++result.compared;
    ++result.pairs[index].compared;
    comparison->pair = index;
    note_scatter(*comparison, result);
    if (comparison->judgement.verdict != Verdict::same) result.different.push_back(std::move(*comparison));
  }
}

// Worst first.
int rank(Verdict verdict) {
  constexpr std::array ranks = {3, 2, 0, 1};  // same, better, worse, ambiguous
  return ranks[static_cast<size_t>(verdict)];
}

void decide(const GateOptions& options, GateResult& result) {
  std::ranges::stable_sort(result.different, [](const Comparison& a, const Comparison& b) {
    const int first = rank(a.judgement.verdict), second = rank(b.judgement.verdict);
    return first != second ? first < second : a.worsening > b.worsening;
  });
  std::ranges::stable_sort(result.events, {}, &Event::kind);
  for (const Comparison& comparison : result.different)
    result.failed |= fails(options, result.baseline->layout().metrics[comparison.metric].category,
                           comparison.judgement.verdict);
  for (const Event& event : result.events) result.failed |= fails(options, result, event);
}

}  // namespace

std::string_view place_of(Against against) {
  return against == Against::baseline ? "in the baseline" : "at the merge base";
}

bool same_resolved(const Table& baseline, const Table& current, const RowPair& pair) {
  // Of a kernel everything that it is built for names it.
  if (baseline.layout().source != Source::results)
    return baseline.key(pair.baseline) == current.key(pair.current);
  return std::ranges::all_of(std::array{Fact::br, Fact::bc, Fact::knobs_used}, [&](Fact fact) {
    return baseline.fact(pair.baseline, fact) == current.fact(pair.current, fact);
  });
}

std::string_view to_string(Event::Kind kind) {
  constexpr std::array names = {"no longer ok", "missing", "tile", "now ok", "new"};
  return names[static_cast<size_t>(kind)];
}

size_t GateResult::count(Verdict verdict) const {
  if (verdict == Verdict::same) return compared - different.size();
  return static_cast<size_t>(std::ranges::count_if(
      different, [&](const Comparison& comparison) { return comparison.judgement.verdict == verdict; }));
}

size_t GateResult::count(Event::Kind kind) const {
  return static_cast<size_t>(std::ranges::count(events, kind, &Event::kind));
}

bool GateResult::compared_nothing() const {
  return compared == 0 && !(failed && count(Event::Kind::not_ok) > 0);
}

ExitCode GateResult::exit_code() const {
  if (compared_nothing()) return ExitCode::environment;
  return failed ? ExitCode::failed : ExitCode::ok;
}

bool fails(const GateOptions& options, Category category, Verdict verdict) {
  if (verdict == Verdict::ambiguous) return options.fail_on.contains(FailOn::ambiguous);
  if (verdict != Verdict::worse) return false;
  constexpr std::array names = {FailOn::latency, FailOn::bytes, FailOn::flops, FailOn::build};
  return category == Category::other || options.fail_on.contains(names[static_cast<size_t>(category)]);
}

bool fails(const GateOptions& options, const GateResult& result, const Event& event) {
  if (!options.fail_on.contains(FailOn::missing)) return false;
  if (event.kind == Event::Kind::missing) return !options.allow_missing;
  if (event.kind != Event::Kind::not_ok) return false;
  return !(options.allow_missing && result.current->disposition(event.current) == "skipped");
}

std::optional<Comparison> compare(const Table& baseline, const Table& current, const RowPair& pair,
                                  size_t metric) {
  const Metric& compared = baseline.layout().metrics[metric];
  if (left_out(compared, pair)) return std::nullopt;
  const auto old_value = baseline.value(pair.baseline, metric),
             new_value = current.value(pair.current, metric);
  if (!old_value || (!new_value && compared.optional)) return std::nullopt;
  if (!new_value)
    throw UsageError(fmt::format("{}, line {}, column {}: it is empty, but {}, line {} has {}",
                                 current.file(), current.line(pair.current), compared.column, baseline.file(),
                                 baseline.line(pair.baseline), *old_value));
  return Comparison{.pair = 0,
                    .metric = metric,
                    .baseline = *old_value,
                    .current = *new_value,
                    .worsening = worsening(compared, *old_value, *new_value),
                    .judgement = judge(baseline, current, pair, metric)};
}

GateResult gate(const GateInput& baseline, const GateInput& current, const GateOptions& options) {
  check_allowed(options.allow_different, baseline, current);
  GateResult result{.baseline = &baseline.table,
                    .current = &current.table,
                    .pairs = {},
                    .different = {},
                    .events = {},
                    .warnings = {},
                    .baseline_kernels = {},
                    .current_kernels = {}};
  check_layouts(baseline.table, current.table, result);
  {
    auto selecting = std::async(std::launch::async, select_rows, std::cref(current.table), options.run);
    const Selection old_rows = select_rows(baseline.table, "newest"), new_rows = selecting.get();
    match_rows(old_rows, new_rows, baseline.table, current.table, result);
    result.baseline_kernels = kernels_of(baseline, old_rows.rows);
    result.current_kernels = kernels_of(current, new_rows.rows);
  }
  const auto warnings = check_comparable(baseline, current, options, result.pairs);
  result.warnings.insert(result.warnings.end(), warnings.begin(), warnings.end());
  for (size_t i = 0; i < result.pairs.size(); ++i) compare_pair(i, result);
  warn_of_scatter(result);
  decide(options, result);
  return result;
}

}  // namespace attnprof
