// Text of rows and files in GitHub-flavoured markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// One line, cut where it is long, that neither ends a table nor is taken for HTML, a link or a mention.
std::string markdown_escaped(std::string_view text);

// A line of a table; cells are markdown already.
std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace attnprof
