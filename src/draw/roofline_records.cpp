// The long form of a roofline's data: which columns there are, and the values of a point and of a roof.
#include <array>

#include "draw/roofline_data.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

// Columns of a row that a point keeps beside its identity, under their own names.
constexpr auto row_columns = std::to_array<std::string_view>(
    {"run", "backend", "br", "bc", "knobs_used", "latency_source", "bytes_source", "verified", "flags"});

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

DataValue value_of(const Column& column, const Row& row) {
  const Field field = column.field(const_cast<Row&>(row));  // only read through
  return std::visit([](const auto* value) { return DataValue(*value); }, field);
}

std::vector<const Column*> kept_columns(const RooflineData& data) {
  std::vector<const Column*> columns = told_identity(data);
  for (const std::string_view name : row_columns) columns.push_back(find_column(name));
  return columns;
}

}  // namespace

std::vector<const Column*> told_identity(const RooflineData& data) {
  std::vector<const Column*> columns = identity_columns();
  std::erase_if(columns, [&](const Column* column) { return !tells_in_any(*column, data.rows); });
  return columns;
}

std::vector<std::string_view> record_columns(const RooflineData& data) {
  std::vector<std::string_view> names = {"record", "level", "device"};
  for (const Column* column : kept_columns(data)) names.push_back(column->name);
  for (const OwnColumn& column : own_columns) names.push_back(column.name);
  return names;
}

std::vector<DataRecord> point_records(const RooflineData& data) {
  const std::vector<const Column*> columns = kept_columns(data);
  std::vector<DataRecord> records;
  for (const RooflinePoint& point : data.points) {
    const Row& row = data.rows[point.row];
    DataRecord record = {"point", point.level, row.provenance.device};
    for (const Column* column : columns) record.push_back(value_of(*column, row));
    for (const OwnColumn& column : own_columns) record.push_back(column.of_point(point));
    records.push_back(std::move(record));
  }
  return records;
}

std::vector<DataRecord> roof_records(const RooflineData& data) {
  const std::vector<const Column*> columns = kept_columns(data);
  std::vector<DataRecord> records;
  for (const Roof& roof : data.roofs) {
    DataRecord record = {"roof", roof.level, roof.device};
    for (const Column* column : columns)
      record.push_back(column->name == "dtype" ? roof.dtype : std::string());
    for (const OwnColumn& column : own_columns) record.push_back(column.of_roof(roof));
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace attnprof
