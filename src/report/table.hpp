// Tables for people: only what varies and the key figures, in human units, never wider than the terminal.
#pragma once

#include <string>
#include <vector>

#include "roofline/row.hpp"
#include "roofline/schema.hpp"

namespace attnprof {

struct TableStyle {
  size_t width = 120;  // characters of a line, at most
  bool color = false;
  std::vector<const Column*> columns;  // exactly these, in this order; empty: chosen from the rows
};

// Lines end in '\n'; below the table, why rows are not ok, and how many columns are hidden.
std::string format_table(const std::vector<Row>& rows, const TableStyle& style);

// A cell for people: 12.3 us, 134 MB, 297 TFLOP/s, 61.2 %; "-" when absent.
std::string human_cell(const Column& column, const Row& row);

// `text` broken into lines of at most `width` characters, each with `indent` before it.
std::string wrap_text(const std::string& text, size_t width, const std::string& indent);

// Plain columns of text, the last one cut with an ellipsis where the width ends. Used by list, compile,
// --dry-run.
std::string format_text_table(const std::vector<std::vector<std::string>>& lines, size_t width);

// COLUMNS if it is set, the width of the terminal behind `fd`, 120 where there is none; at most 10,000.
size_t terminal_width(int fd = 1);
// Standard output is a terminal and NO_COLOR is not set.
bool color_wanted();

}  // namespace attnprof
