// A speedup as a product of named factors and a remainder.
#pragma once

#include <string>
#include <vector>

#include "explain/row_model.hpp"

namespace attnprof {

struct Factor {
  std::string name;  // fewer_bytes, higher_rate, occupancy_and_waves, fewer_launches
  double factor = 1;
  std::vector<std::string> columns;  // what it was computed from
  std::string text;                  // "moves 68.2 MB at HBM instead of 2.22 GB"
};

struct SpeedupSplit {
  double speedup = 1;           // time of the other over that of the row
  std::vector<Factor> factors;  // none where one of the two is not modelled
  double remainder = 1;         // speedup over the product of the factors: exactly
  std::string why_no_factors;   // a sentence
};

// Of `row` against `other`, a row of the same problem. The factors lead from the model of the other's time to
// that of the row's, one change after another, in the order of their names above; the remainder is what both
// models leave open.
SpeedupSplit split_speedup(const RowModel& row, const RowModel& other);

}  // namespace attnprof
