// What a roofline shows, as tidy data: points of rows and roofs of devices, one record each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "files/result_rows.hpp"
#include "roofline/levels.hpp"
#include "roofline/roofs.hpp"
#include "row/row.hpp"
#include "row/schema.hpp"

namespace attnprof {

// A row at one level of the memory hierarchy. Intensities are FLOP a byte, rates TFLOP/s; "executed" counts
// the tensor cores' instructions, masked and padded work included, and is absent where they do nothing.
struct RooflinePoint {
  size_t row = 0;     // in RooflineData::rows
  std::string level;  // Level::name; none: no bytes were counted, and the point has no intensity
  Real intensity, executed_intensity;
  double useful_tflops_per_s = 0;
  Real executed_tflops_per_s;
  Real roof_tflops_per_s;  // attainable at `intensity`; at level none the peak of its unit
  std::string roof;        // which it is (Roof::name); empty where it is not known
};

struct RooflineData {
  std::span<const Level> levels;  // that points and roofs are of
  std::vector<Row> rows;          // those that are ok
  std::vector<RooflinePoint> points;
  std::vector<Roof> roofs;
  LeftOut left_out;
};

// Columns beside the identity that a file must have.
std::span<const std::string_view> roofline_columns();

// Sentences about what is missing go to `notices`. Throws EnvironmentError when no row is ok, UsageError for
// a malformed .meta.json.
RooflineData collect_roofline(const std::vector<ResultFile>& files, std::vector<std::string>& notices,
                              std::span<const Level> levels = memory_levels());

// Long form: one array of columns for points and roofs; `record` says which of them a record is. Cells that
// do not apply are empty.
using DataValue = std::variant<std::string, Count, Real>;
using DataRecord = std::vector<DataValue>;
// The identity's columns that say something in one of the rows.
std::vector<const Column*> told_identity(const RooflineData& data);
std::vector<std::string_view> record_columns(const RooflineData& data);
std::vector<DataRecord> point_records(const RooflineData& data);
std::vector<DataRecord> roof_records(const RooflineData& data);

}  // namespace attnprof
