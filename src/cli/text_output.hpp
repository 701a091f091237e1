// Lists that are no rows of a sweep, in the format asked for.
#pragma once

#include <string>
#include <vector>

#include "cli/flags/format.hpp"

namespace attnprof {

// The first line holds the titles; `numbers`: positions of columns that JSON has as numbers.
std::string format_lines(const std::vector<std::vector<std::string>>& lines, Format format,
                         const std::vector<size_t>& numbers = {});

}  // namespace attnprof
