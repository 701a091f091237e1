#include "row/schema_docs.hpp"

#include <fmt/format.h>

#include "row/schema.hpp"

namespace attnprof {
std::vector<std::vector<std::string>> schema_lines() {
  std::vector<std::vector<std::string>> lines = {{"column", "group", "meaning"}};
  for (const Column& column : schema())
    lines.push_back(
        {std::string(column.name), std::string(to_string(column.group)), std::string(column.description)});
  return lines;
}

}  // namespace attnprof
