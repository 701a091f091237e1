// The column table for people: README's is generated from it, so that it stays true.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// {column, group, description} of every column of a row, under a line of titles.
std::vector<std::vector<std::string>> schema_lines();

}  // namespace attnprof
