#include "gate/row_outcome.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace attnprof {
namespace {

RowState state_of(Event::Kind kind) {
  constexpr std::array states = {RowState::not_ok, RowState::missing, RowState::tile, RowState::now_ok,
                                 RowState::added};
  return states[static_cast<size_t>(kind)];
}

// Of a row that was and is ok.
RowState worst(const GateResult& result, const RowPair& pair, std::span<const Comparison* const> different) {
  for (const auto& [verdict, state] : {std::pair{Verdict::worse, RowState::worse},
                                       {Verdict::ambiguous, RowState::ambiguous},
                                       {Verdict::better, RowState::better}})
    if (std::ranges::any_of(
            different, [wanted = verdict](const Comparison* c) { return c->judgement.verdict == wanted; }))
      return state;
  return same_resolved(*result.baseline, *result.current, pair) ? RowState::same : RowState::tile;
}

RowState state_of(const GateResult& result, const RowPair& pair,
                  std::span<const Comparison* const> different) {
  const Table &baseline = *result.baseline, &current = *result.current;
  const bool was_ok = baseline.ok(pair.baseline), is_ok = current.ok(pair.current);
  if (was_ok && is_ok) return worst(result, pair, different);
  if (was_ok != is_ok) return was_ok ? RowState::not_ok : RowState::now_ok;
  const bool skipped =
      baseline.disposition(pair.baseline) == "skipped" && current.disposition(pair.current) == "skipped";
  return skipped ? RowState::skipped : RowState::never_ok;
}

}  // namespace

std::string_view to_string(RowState state) {
  constexpr std::array<std::string_view, static_cast<size_t>(RowState::count)> names = {
      "no longer ok", "worse", "missing",        "ambiguous",       "tile", "better",
      "now ok",       "new",   "not ok in both", "skipped in both", "same"};
  return names[static_cast<size_t>(state)];
}

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
  RowOutcome outcome{
      .state = state_of(result, pair, different), .pair = &pair, .row = pair.current, .different = different};
  if (outcome.state == RowState::not_ok)
    outcome.failed = fails(options, result, {Event::Kind::not_ok, pair.baseline, pair.current});
  for (const Comparison* comparison : different)
    outcome.failed |= fails(options, result.baseline->layout().metrics[comparison->metric].category,
                            comparison->judgement.verdict);
  return outcome;
}

RowOutcome outcome_of_event(const GateResult& result, const GateOptions& options, const Event& event) {
  const bool missing = event.kind == Event::Kind::missing;
  return {.state = state_of(event.kind),
          .row = missing ? event.baseline : event.current,
          .failed = fails(options, result, event),
          .different = {}};
}

}  // namespace attnprof
