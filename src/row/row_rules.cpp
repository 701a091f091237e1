#include "row/row_rules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.hpp"
#include "base/parsed_number.hpp"
#include "base/version.hpp"
#include "row/flag_names.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

constexpr auto backends = std::to_array<std::string_view>({"gpu", "sim"});
constexpr auto caches = std::to_array<std::string_view>({"cold", "warm", "as_found"});
constexpr auto dispositions = std::to_array<std::string_view>({"ok", "skipped", "incorrect", "failed"});
constexpr auto verdicts = std::to_array<std::string_view>({"yes", "no", "unchecked"});
constexpr auto latency_sources = std::to_array<std::string_view>({"cuda_events", "model", "counters"});
constexpr auto bytes_sources = std::to_array<std::string_view>({"cupti", "cupti_launch", "sim", "none"});

struct Words {
  std::string_view column;
  std::span<const std::string_view> words;
};
// Columns of closed lists. `bound` names a resource, which may come with a level, and is none.
constexpr auto closed = std::to_array<Words>({{"backend", backends},
                                              {"cache", caches},
                                              {"disposition", dispositions},
                                              {"verified", verdicts},
                                              {"latency_source", latency_sources},
                                              {"bytes_source", bytes_sources}});

// What no GPU exceeds. Two counts can be added; a model's are saturated instead. A time is above 0: 1e-9 ns
// is less than light takes through an atom, 1e18 ns are 30 years.
constexpr double most_counted = 0x1p62, most_modelled = 0x1p63, most_real = 1e30;
constexpr double least_ns = 1e-9, most_ns = 1e18;

struct Range {
  double lowest, highest;
};
Range range_of(const Column& column, bool whole) {
  if (whole) return {0, column.group == Group::counters ? most_counted : most_modelled};
  if (column.name.ends_with("_ns")) return {least_ns, most_ns};
  if (column.name == "drift_pct") return {-most_real, most_real};
  return {0, most_real};
}

struct Ordered {
  std::string_view low, high, told, why;  // `told`: the column that is at fault
};
constexpr std::string_view below = "it is below the median", above = "it is above the median";
constexpr auto ordered = std::to_array<Ordered>({
    {"latency_min_ns", "latency_median_ns", "latency_min_ns", above},
    {"latency_ci95_low_ns", "latency_median_ns", "latency_ci95_low_ns", above},
    {"latency_median_ns", "latency_ci95_high_ns", "latency_ci95_high_ns", below},
    {"latency_median_ns", "latency_p90_ns", "latency_p90_ns", below},
});

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The first part of "a;b" that is none of the words.
std::optional<std::string_view> unknown_part(std::string_view text, std::span<const std::string_view> words) {
  for (;;) {
    const size_t end = text.find(';');
    if (!contains(words, text.substr(0, end))) return text.substr(0, end);
    if (end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> unreadable_schema(std::string_view written) {
  if (written == schema_version) return std::nullopt;
  const auto number = parsed_number<int64_t>(written);
  if (number && *number > *parsed_number<int64_t>(schema_version))
    return fmt::format(
        "a newer attnprof wrote schema {}, and this one ({}) reads up to {}; use that attnprof, or measure again",
        written, tool_version(), schema_version);
  return fmt::format("no attnprof wrote schema '{}'; schema {} is the first", written, schema_version);
}

RowRules::RowRules(const CsvHeader& header)
    : header_(header), schema_(header.position("schema")), disposition_(header.position("disposition")) {
  for (const std::string& name : header.names()) cells_.push_back(cell_of(name));
  numbers_.assign(cells_.size(), absent);
  find_orders(header);
  find_measured(header);
}

RowRules::Cell RowRules::cell_of(std::string_view name) {
  const Column* column = find_column(name);
  if (!column) return {};
  Cell cell{.kind = Kind::text, .required = column->group == Group::identity};
  Row row;
  const Field field = column->field(row);
  if (std::holds_alternative<std::string*>(field)) {
    const auto list = std::ranges::find(closed, name, &Words::column);
    if (list != closed.end()) cell.words = list->words;
    if ((cell.several = name == "flags")) cell.words = flag_names();
    return cell;
  }
  cell.kind = std::holds_alternative<Count*>(field) ? Kind::whole : Kind::real;
  const Range range = range_of(*column, cell.kind == Kind::whole);
  cell.lowest = range.lowest, cell.highest = range.highest;
  return cell;
}

void RowRules::find_orders(const CsvHeader& header) {
  for (const auto& [low, high, told, why] : ordered) {
    const auto first = header.position(low), second = header.position(high);
    if (first && second) orders_.push_back({*first, *second, *header.position(told), why});
  }
}

void RowRules::find_measured(const CsvHeader& header) {
  const auto add = [&](std::string_view source, std::string_view word, std::string_view why,
                       std::initializer_list<std::string_view> columns) {
    const auto field = header.position(source);
    if (!field || !disposition_) return;
    Measured& measured = measured_.emplace_back(Measured{*field, word, why, {}});
    for (const std::string_view column : columns)
      if (const auto number = header.position(column)) measured.numbers.push_back(*number);
  };
  add("latency_source", "cuda_events", "it is empty, though the row is ok and was timed",
      {"latency_median_ns"});
  add("bytes_source", "cupti", "it is empty, though the row is ok and was counted",
      {"hbm_bytes", "sm_bytes"});
}

void RowRules::check(const RecordView& record) {
  if (schema_ && !record.fields[*schema_].empty())
    if (const auto why = unreadable_schema(record.fields[*schema_]))
      header_.refuse(record.line, *schema_, *why);
  for (size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    if (cell.kind == Kind::unknown) continue;
    const bool empty = record.fields[i].empty();
    if (empty && cell.required) refuse(record, i, "it is empty, and rows are matched by it");
    if (cell.kind != Kind::text)
      numbers_[i] = empty ? absent : parsed(record, i);
    else if (!empty && !cell.words.empty())
      check_text(record, i);
  }
  check_measured(record);
  check_orders(record);
}

void RowRules::check_text(const RecordView& record, size_t field) const {
  const Cell& cell = cells_[field];
  const std::string_view text = record.fields[field];
  const auto unknown = cell.several                 ? unknown_part(text, cell.words)
                       : contains(cell.words, text) ? std::nullopt
                                                    : std::optional(text);
  if (unknown)
    refuse(record, field, fmt::format("'{}' is none of {}", *unknown, fmt::join(cell.words, ", ")));
}

double RowRules::parsed(const RecordView& record, size_t field) const {
  const Cell& cell = cells_[field];
  const std::string& text = record.fields[field];
  double value = absent;
  if (cell.kind == Kind::whole) {
    const auto whole = parsed_number<int64_t>(text);
    if (!whole) refuse(record, field, fmt::format("'{}' is not a whole number", text));
    value = static_cast<double>(*whole);
  } else {
    const auto real = parsed_number<double>(text);
    if (!real) refuse(record, field, fmt::format("'{}' is not a finite number", text));
    value = *real;
  }
  if (value >= cell.lowest && value <= cell.highest) return value;
  const bool low = value < cell.lowest;
  refuse(record, field,
         fmt::format("{} is {} {:g}", text, low ? "below" : "above", low ? cell.lowest : cell.highest));
}

void RowRules::check_orders(const RecordView& record) const {
  for (const Order& order : orders_) {
    if (numbers_[order.low] > numbers_[order.high]) refuse(record, order.told, order.why);  // not of NaN
    const size_t median = order.told == order.low ? order.high : order.low;
    if (!record.fields[order.told].empty() && record.fields[median].empty())
      refuse(record, order.told, "it has a value, and the median has none");
  }
}

void RowRules::check_measured(const RecordView& record) const {
  if (!disposition_ || record.fields[*disposition_] != "ok") return;
  for (const Measured& measured : measured_) {
    if (record.fields[measured.source] != measured.word) continue;
    for (const size_t number : measured.numbers)
      if (record.fields[number].empty()) refuse(record, number, measured.why);
  }
}

void RowRules::refuse(const RecordView& record, size_t field, std::string_view why) const {
  header_.refuse(record.line, field,
                 fmt::format("{}; no row of attnprof has that: mend the file or measure again", why));
}

}  // namespace attnprof
