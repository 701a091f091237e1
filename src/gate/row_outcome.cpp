#include "gate/row_outcome.hpp"

#include <algorithm>

namespace attnprof {
namespace {

Verdict worst(const std::vector<Comparison>& comparisons) {
  for (const Verdict verdict : {Verdict::worse, Verdict::ambiguous, Verdict::better})
    if (std::ranges::any_of(comparisons, [&](const Comparison& c) { return c.judgement.verdict == verdict; }))
      return verdict;
  return Verdict::same;
}

}  // namespace

RowOutcome outcome_of_pair(const GateResult& result, const GateOptions& options, size_t index) {
  const RowPair& pair = result.pairs[index];
  const Table &baseline = *result.baseline, &current = *result.current;
  RowOutcome outcome{.state = "same", .pair = &pair, .row = pair.current, .comparisons = {}};
  const bool was_ok = baseline.ok(pair.baseline), is_ok = current.ok(pair.current);
  if (was_ok != is_ok) {
    const Event event{was_ok ? Event::Kind::not_ok : Event::Kind::now_ok, pair.baseline, pair.current};
    outcome.state = to_string(event.kind);
    outcome.failed = fails(options, result, event);
  }
  if (!was_ok || !is_ok) return outcome;
  for (size_t metric = 0; metric < baseline.layout().metrics.size(); ++metric)
    if (auto comparison = compare(baseline, current, pair, metric)) {
      outcome.failed |=
          fails(options, baseline.layout().metrics[metric].category, comparison->judgement.verdict);
      outcome.comparisons.push_back(std::move(*comparison));
    }
  outcome.state = to_string(worst(outcome.comparisons));
  return outcome;
}

RowOutcome outcome_of_event(const GateResult& result, const GateOptions& options, const Event& event) {
  const bool missing = event.kind == Event::Kind::missing;
  return {.state = std::string(to_string(event.kind)),
          .row = missing ? event.baseline : event.current,
          .failed = fails(options, result, event),
          .comparisons = {}};
}

}  // namespace attnprof
