// Text that fits a terminal: wrapped sentences, columns of cells, and what the terminal takes.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// `text`, made safe for people (base/safe_text.hpp), broken into lines of at most `width` characters, each
// with `indent` before it.
std::string wrap_text(const std::string& text, size_t width, const std::string& indent);
// The same of a text that is safe already.
std::string wrap_words(const std::string& text, size_t width, const std::string& indent);

// Plain columns of text, the last one cut with an ellipsis where the width ends.
std::string format_text_table(std::vector<std::vector<std::string>> lines, size_t width);

// COLUMNS if it is set, the width of the terminal behind `fd`, 120 where there is none; at most 10,000.
size_t terminal_width(int fd = 1);

// Lines of cells as a markdown table; the first line is its header.
std::string markdown_table(const std::vector<std::vector<std::string>>& lines);

}  // namespace attnprof
