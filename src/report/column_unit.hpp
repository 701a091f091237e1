// The unit that all numbers of a column share, which then stands in its head.
#pragma once

#include <string>

#include "row/schema.hpp"

namespace attnprof {

struct ColumnUnit {
  double size = 1;   // in the column's own unit
  std::string name;  // empty: none
};

// The largest in which `largest`, of the column's values, has no more than four digits before the point.
ColumnUnit column_unit(const Column& column, double largest);

// 12.9, 5910.
std::string in_unit(double value, const ColumnUnit& unit);

}  // namespace attnprof
