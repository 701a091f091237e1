#include "gate/row_outcome.hpp"

#include <algorithm>
#include <tuple>

namespace attnprof {
namespace {

Verdict worst(std::span<const Comparison* const> different) {
  for (const Verdict verdict : {Verdict::worse, Verdict::ambiguous, Verdict::better})
    if (std::ranges::any_of(different, [&](const Comparison* c) { return c->judgement.verdict == verdict; }))
      return verdict;
  return Verdict::same;
}

}  // namespace

std::vector<const Comparison*> different_by_pair(const GateResult& result) {
  std::vector<const Comparison*> different;
  different.reserve(result.different.size());
  for (const Comparison& comparison : result.different) different.push_back(&comparison);
  std::ranges::sort(different, [](const Comparison* a, const Comparison* b) {
    return std::tie(a->pair, a->metric) < std::tie(b->pair, b->metric);
  });
  return different;
}

RowOutcome outcome_of_pair(const GateResult& result, const GateOptions& options, size_t index,
                           std::span<const Comparison* const> different) {
  const RowPair& pair = result.pairs[index];
  const Table &baseline = *result.baseline, &current = *result.current;
  RowOutcome outcome{
      .state = to_string(worst(different)), .pair = &pair, .row = pair.current, .different = different};
  const bool was_ok = baseline.ok(pair.baseline), is_ok = current.ok(pair.current);
  if (was_ok != is_ok) {
    const Event event{was_ok ? Event::Kind::not_ok : Event::Kind::now_ok, pair.baseline, pair.current};
    outcome.state = to_string(event.kind);
    outcome.failed = fails(options, result, event);
  }
  for (const Comparison* comparison : different)
    outcome.failed |=
        fails(options, baseline.layout().metrics[comparison->metric].category, comparison->judgement.verdict);
  return outcome;
}

RowOutcome outcome_of_event(const GateResult& result, const GateOptions& options, const Event& event) {
  const bool missing = event.kind == Event::Kind::missing;
  return {.state = to_string(event.kind),
          .row = missing ? event.baseline : event.current,
          .failed = fails(options, result, event),
          .different = {}};
}

}  // namespace attnprof
