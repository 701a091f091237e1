// A field that a problem might have one day, for tests of what a new field changes.
#pragma once

#include "problem/problem_fields.hpp"

namespace attnprof {

inline constexpr ProblemField window_field{
    .name = "window",
    .description = "keys before its own that a query sees; 0: all",
    .count = &Problem::further,
    .lowest = 0,
    .absent = "0",
    .axis = {.option = "--window", .help = "Keys before its own that a query sees"},
    .macro = "WINDOW"};

}  // namespace attnprof
