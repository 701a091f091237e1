#include "row/schema_docs.hpp"

#include <fmt/format.h>

#include "row/schema.hpp"

namespace attnprof {
std::vector<std::vector<std::string>> schema_lines(Absences absences) {
  std::vector<std::vector<std::string>> lines = {{"column", "group", "meaning"}};
  if (absences == Absences::told) lines.front().insert(lines.front().end(), {"absent", "absent_as"});
  for (const Column& column : schema()) {
    lines.push_back(
        {std::string(column.name), std::string(to_string(column.group)), std::string(column.description)});
    if (absences == Absences::left_out) continue;
    const ProblemField* field = column.problem_field();
    lines.back().emplace_back(field ? field->absent : "");
    lines.back().emplace_back(field ? field->absent_as : "");
  }
  return lines;
}

}  // namespace attnprof
