// Tables for people: only what varies and the key figures, in human units, never wider than the terminal.
#pragma once

#include <string>
#include <vector>

#include "row/row.hpp"
#include "row/schema.hpp"

namespace attnprof {

struct TableStyle {
  size_t width = 120;  // characters of a line, at most
  bool color = false;
  std::vector<const Column*> columns;  // exactly these, in this order; empty: chosen from the rows
};

// Of the columns that are chosen, numbers share a unit, which stands under the title. Lines end in '\n';
// below the table, why rows are not ok, and how many columns are hidden.
std::string format_table(const std::vector<Row>& rows, const TableStyle& style);

// A cell for people: 12.3 us, 134 MB, 297 TFLOP/s, 61.2 %; "-" when absent.
std::string human_cell(const Column& column, const Row& row);

}  // namespace attnprof
