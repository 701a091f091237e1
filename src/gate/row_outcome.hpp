// The outcome of one row, as every report tells it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

// The worst that can be said of a row, worst first.
enum class RowState {
  not_ok,
  worse,
  missing,
  ambiguous,
  tile,  // nothing but its tile or knobs
  better,
  now_ok,
  added,
  never_ok,  // in neither file: failed, or skipped in one of them
  skipped,   // in both
  same,
  count,
};
std::string_view to_string(RowState state);

struct RowOutcome {
  RowState state = RowState::same;
  const RowPair* pair = nullptr;  // null for a row of one file only
  size_t row = 0;                 // of the current file; of the baseline when missing
  bool failed = false;
  std::span<const Comparison* const> different;  // every verdict but `same`, in the order of the columns
};

RowOutcome outcome_of_pair(const GateResult& result, const GateOptions& options, size_t pair,
                           std::span<const Comparison* const> different);
RowOutcome outcome_of_event(const GateResult& result, const GateOptions& options, const Event& event);

// result.different by pair, and of one by column.
std::vector<const Comparison*> different_by_pair(const GateResult& result);

// The rows of the current file in its order, then the missing ones. Built one at a time: a million do not
// fit.
template <class Visit>
void for_each_row(const GateResult& result, const GateOptions& options, Visit visit) {
  const std::vector<const Comparison*> different = different_by_pair(result);
  size_t begin = 0;
  for (size_t pair = 0; pair < result.pairs.size(); ++pair) {
    size_t end = begin;
    while (end < different.size() && different[end]->pair == pair) ++end;
    visit(outcome_of_pair(result, options, pair, std::span(different).subspan(begin, end - begin)));
    begin = end;
  }
  for (const Event& event : result.events)
    if (event.kind == Event::Kind::missing || event.kind == Event::Kind::added)
      visit(outcome_of_event(result, options, event));
}

}  // namespace attnprof
