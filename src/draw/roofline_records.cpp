// The long form of a roofline's data: which columns there are, and the values of a point and of a roof.
#include <array>

#include "draw/roofline_data.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

// Columns of a row that a point keeps, under their own names.
constexpr auto row_columns = std::to_array<std::string_view>(
    {"variant", "pass",       "dtype",          "mask",         "batch",    "heads", "kv_heads", "q_len",
     "kv_len",  "head_dim",   "tile",           "knobs",        "cache",    "run",   "backend",  "br",
     "bc",      "knobs_used", "latency_source", "bytes_source", "verified", "flags"});

struct OwnColumn {
  std::string_view name;
  DataValue (*of_point)(const RooflinePoint&);
  DataValue (*of_roof)(const Roof&);
};

DataValue no_point(const RooflinePoint&) { return std::string(); }
DataValue no_roof(const Roof&) { return std::string(); }

constexpr auto own_columns = std::to_array<OwnColumn>({
    {"intensity_flop_per_byte", [](const RooflinePoint& p) { return DataValue(p.intensity); }, no_roof},
    {"executed_intensity_flop_per_byte",
     [](const RooflinePoint& p) { return DataValue(p.executed_intensity); }, no_roof},
    {"useful_tflops_per_s", [](const RooflinePoint& p) { return DataValue(Real(p.useful_tflops_per_s)); },
     no_roof},
    {"executed_tflops_per_s", [](const RooflinePoint& p) { return DataValue(p.executed_tflops_per_s); },
     no_roof},
    {"roof", [](const RooflinePoint& p) { return DataValue(p.roof); },
     [](const Roof& r) { return DataValue(r.name); }},
    {"roof_tflops_per_s", [](const RooflinePoint& p) { return DataValue(p.roof_tflops_per_s); },
     [](const Roof& r) { return DataValue(r.kind == RoofKind::peak ? Real(r.value) : Real()); }},
    {"roof_gbps", no_point,
     [](const Roof& r) { return DataValue(r.kind == RoofKind::bandwidth ? Real(r.value) : Real()); }},
    {"roof_source", no_point, [](const Roof& r) { return DataValue(r.source); }},
});

DataValue value_of(std::string_view name, const Row& row) {
  const Field field = find_column(name)->field(const_cast<Row&>(row));  // only read through
  return std::visit([](const auto* value) { return DataValue(*value); }, field);
}

}  // namespace

std::vector<std::string_view> record_columns() {
  std::vector<std::string_view> names = {"record", "level", "device"};
  names.insert(names.end(), row_columns.begin(), row_columns.end());
  for (const OwnColumn& column : own_columns) names.push_back(column.name);
  return names;
}

std::vector<DataRecord> point_records(const RooflineData& data) {
  std::vector<DataRecord> records;
  for (const RooflinePoint& point : data.points) {
    const Row& row = data.rows[point.row];
    DataRecord record = {"point", point.level, row.provenance.device};
    for (const std::string_view name : row_columns) record.push_back(value_of(name, row));
    for (const OwnColumn& column : own_columns) record.push_back(column.of_point(point));
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<DataRecord> roof_records(const RooflineData& data) {
  std::vector<DataRecord> records;
  for (const Roof& roof : data.roofs) {
    DataRecord record = {"roof", roof.level, roof.device};
    for (const std::string_view name : row_columns)
      record.push_back(name == "dtype" ? roof.dtype : std::string());
    for (const OwnColumn& column : own_columns) record.push_back(column.of_roof(roof));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace attnprof
