// The long form as CSV and JSON.
#include <fmt/format.h>

#include <algorithm>

#include "base/csv.hpp"
#include "base/json_names.hpp"
#include "draw/roofline_json.hpp"
#include "draw/roofline_output.hpp"

namespace attnprof {
namespace {

struct Text {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const Count& count) const { return count ? fmt::format("{}", *count) : ""; }
  std::string operator()(const Real& real) const { return real ? fmt::format("{:.6g}", *real) : ""; }
};

struct AsJson {
  OrderedJson operator()(const std::string& text) const {
    return text.empty() ? OrderedJson() : OrderedJson(text);
  }
  OrderedJson operator()(const Count& count) const { return count ? OrderedJson(*count) : OrderedJson(); }
  OrderedJson operator()(const Real& real) const { return real ? OrderedJson(*real) : OrderedJson(); }
};

std::string csv_lines(const std::vector<DataRecord>& records) {
  std::string text;
  for (const DataRecord& record : records) {
    std::vector<std::string> cells;
    for (const DataValue& value : record) cells.push_back(std::visit(Text{}, value));
    text += csv_record(cells);
  }
  return text;
}

bool is_empty(const DataValue& value) { return std::visit(Text{}, value).empty(); }

}  // namespace

std::string roofline_csv(const RooflineData& data) {
  const auto names = record_columns(data);
  return csv_record(std::vector<std::string>(names.begin(), names.end())) + csv_lines(point_records(data)) +
         csv_lines(roof_records(data));
}

OrderedJson records_json(const std::vector<std::string_view>& names, const std::vector<DataRecord>& records) {
  OrderedJson all = OrderedJson::array();
  for (size_t i = 0; i < records.size(); ++i) all.push_back(OrderedJson::object());
  for (size_t column = 0; column < names.size(); ++column) {
    if (std::ranges::all_of(records, [&](const DataRecord& record) { return is_empty(record[column]); }))
      continue;
    for (size_t i = 0; i < records.size(); ++i)
      all[i][std::string(names[column])] = std::visit(AsJson{}, records[i][column]);
  }
  return all;
}

std::string roofline_json(const RooflineData& data) {
  OrderedJson left_out = OrderedJson::object();
  for (const auto& [why, count] : data.left_out) left_out[why] = count;
  const auto names = record_columns(data);
  const OrderedJson json = {{"points", records_json(names, point_records(data))},
                            {"roofs", records_json(names, roof_records(data))},
                            {"left_out", left_out}};
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
