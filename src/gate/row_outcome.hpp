// The outcome of one row, as JUnit and JSON list it.
#pragma once

#include <string>
#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

struct RowOutcome {
  std::string state;              // same, better, worse, ambiguous, or an event's name
  const RowPair* pair = nullptr;  // null for a row of one file only
  size_t row = 0;                 // of the current file; of the baseline when missing
  bool failed = false;
  std::vector<Comparison> comparisons;  // every one, `same` too
};

// The rows of the current file in its order, then the missing ones. Built one at a time: a million do not
// fit.
template <class Visit>
void for_each_row(const GateResult& result, const GateOptions& options, Visit visit);

RowOutcome outcome_of_pair(const GateResult& result, const GateOptions& options, size_t pair);
RowOutcome outcome_of_event(const GateResult& result, const GateOptions& options, const Event& event);

template <class Visit>
void for_each_row(const GateResult& result, const GateOptions& options, Visit visit) {
  for (size_t pair = 0; pair < result.pairs.size(); ++pair) visit(outcome_of_pair(result, options, pair));
  for (const Event& event : result.events)
    if (event.kind == Event::Kind::missing || event.kind == Event::Kind::added)
      visit(outcome_of_event(result, options, event));
}

}  // namespace attnprof
