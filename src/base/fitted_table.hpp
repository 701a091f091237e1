// Columns of text that fit a width without losing any of it.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// The first line holds the titles. Where the columns are too wide, titles are broken into words first, then
// the gaps become narrow, then cells are broken, the widest column's first and short ones last; a cut is what
// is left where single words are too long.
std::string fitted_table(std::vector<std::vector<std::string>> lines, size_t width);

}  // namespace attnprof
