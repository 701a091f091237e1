// The column table for people: README's is generated from it, so that it stays true.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

enum class Absences { left_out, told };

// {column, group, description} of every column of a row, under a line of titles. With absences also what a
// file without the column means: a value, or the column whose value it has; both empty where it must be
// there.
std::vector<std::vector<std::string>> schema_lines(Absences absences = Absences::left_out);

}  // namespace attnprof
