#include "gate/baseline.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/csv.hpp"
#include "files/meta.hpp"
#include "files/meta_document.hpp"
#include "gate/gate.hpp"
#include "gate/match.hpp"

namespace attnprof {
namespace {

// Records of one file laid out in the columns of another.
class Records {
 public:
  Records(const std::string& text, const Table& table, const std::vector<std::string>& columns)
      : csv_(parse_csv(text, table.file())), table_(table), columns_(columns) {
    const std::vector<std::string>& header = table.header();
    for (const std::string& column : columns)
      positions_.push_back(std::ranges::find(header, column) - header.begin());
  }
  // What a column of the identity is absent for is written out: a column beside it may be another file's.
  std::string line(size_t row) const {
    const std::vector<std::string>& fields = csv_.records[row + 1].fields;
    std::vector<std::string> cells;
    for (size_t i = 0; i < positions_.size(); ++i) {
      const auto position = static_cast<size_t>(positions_[i]);
      cells.push_back(position < fields.size() ? fields[position] : table_.identity(row, columns_[i]));
    }
    return csv_record(cells);
  }

 private:
  CsvText csv_;
  const Table& table_;
  const std::vector<std::string>& columns_;
  std::vector<std::ptrdiff_t> positions_;
};

std::vector<std::string> joined_columns(const Table& current, const Table& baseline) {
  std::vector<std::string> columns = current.header();
  for (const std::string& column : baseline.header())
    if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
  return columns;
}

// Runs of both; of the baseline's file everything else is kept.
std::string joined_meta(const GateInput& baseline, const GateInput& current) {
  if (!baseline.meta || !current.meta) return baseline.meta ? *baseline.meta : current.meta.value_or("");
  OrderedJson meta = parse_meta(*baseline.meta, meta_path(baseline.table.file()));
  const OrderedJson added = parse_meta(*current.meta, meta_path(current.table.file()));
  for (const auto& [run, facts] : added["runs"].items()) meta["runs"][run] = facts;
  if (meta.contains("kernels") && meta["kernels"] != added.value("kernels", OrderedJson()))
    meta.erase("kernels");
  return meta_text(meta);
}

}  // namespace

BaselineUpdate updated_baseline(const std::string& baseline_csv,
                                const std::optional<std::string>& baseline_meta, const Table& baseline,
                                const std::string& current_csv,
                                const std::optional<std::string>& current_meta, const Table& current,
                                const std::string& run) {
  const Selection old_rows = select_rows(baseline, "newest"), new_rows = select_rows(current, run);
  const std::vector<std::string> columns = joined_columns(current, baseline);
  const Records old_records(baseline_csv, baseline, columns), new_records(current_csv, current, columns);
  BaselineUpdate update;
  update.csv = csv_record(columns);
  const auto matches = matching_rows(old_rows, new_rows, baseline, current);
  std::unordered_map<uint32_t, uint32_t> renewed;  // rows of the baseline
  for (const auto& [now, old] : matches) renewed.emplace(old, now);
  for (const uint32_t row : old_rows.rows) {
    const auto found = renewed.find(row);
    const bool replace = found != renewed.end() && current.ok(found->second);
    update.csv += replace ? new_records.line(found->second) : old_records.line(row);
    ++(replace ? update.replaced : update.kept);
  }
  for (const uint32_t row : new_rows.rows) {
    if (!current.ok(row) || matches.contains(row)) continue;
    update.csv += new_records.line(row);
    ++update.added;
  }
  update.meta = joined_meta({baseline, baseline_meta}, {current, current_meta});
  return update;
}

}  // namespace attnprof
