// Sequences of unequal length, as problems of equal ones.
#pragma once

#include <vector>

#include "problem/problem.hpp"

namespace attnprof {

// The problem's sequences by their lengths: each part has one q_len and kv_len, and as its batch the number
// of sequences that have them, so that neither counts nor models take one length for all. One part, the
// problem itself, unless a field says otherwise (ProblemField::parts).
std::vector<Problem> equal_parts(const Problem& problem);

}  // namespace attnprof
