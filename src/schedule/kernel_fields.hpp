// Of which fields of a problem a kernel's code depends, by the macros that it is compiled with.
#pragma once

#include <string_view>
#include <vector>

#include "problem/problem_fields.hpp"

namespace attnprof {

// Those that have a macro, in the order of the columns.
std::vector<const ProblemField*> kernel_fields();

// "HEAD_DIM" of head_dim; empty of a field that no kernel depends on.
std::string_view macro_of(const ProblemField& field);

}  // namespace attnprof
