// The grammar of a sweep's axes, and of the few numbers with a unit that the command line takes. Everything
// here throws UsageError naming the value, the option and what would have been right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem_fields.hpp"

namespace attnprof {

inline constexpr int64_t largest_axis_value = largest_field_count;
inline constexpr size_t most_axis_values = 10'000;

// The values of one axis, in the order given and each once. `texts`: what was given, one entry for each time
// the option was used; each a list of numbers and ranges, `512`, `16k`, `512:4k:512`, `512:16k:x2`, with
// commas between; k is 1024. `lowest`: 1, or 0 for an axis that is no size.
std::vector<int64_t> parse_axis(std::string_view option, const std::vector<std::string>& texts,
                                int64_t lowest = 1);

// One positive number, with the suffix k.
int64_t parse_count(std::string_view option, std::string_view text);

// The words of a list axis such as `naive,flash2`, each once; empty words are refused.
std::vector<std::string> parse_words(std::string_view option, const std::vector<std::string>& texts);

// "0.5%" -> 0.005; above 0 and at most 100 %.
double parse_percent(std::string_view option, std::string_view text);

// "0.5s", "500ms", "20us", "2min" -> seconds; above 0 and at most a day.
double parse_seconds(std::string_view option, std::string_view text);

}  // namespace attnprof
