// Reading and checking the cells of a Table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/csv_header.hpp"
#include "base/error.hpp"
#include "base/parsed_number.hpp"
#include "gate/table.hpp"
#include "row/identity_cells.hpp"
#include "row/row_rules.hpp"

namespace attnprof {
namespace {

constexpr size_t none = std::numeric_limits<size_t>::max();
constexpr double empty_cell = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// Fed record by record.
class TableReader {
 public:
  TableReader(Table& table, const std::vector<std::string>& key, const std::vector<Metric>& metrics)
      : table_(table), key_option_(key), metrics_option_(metrics), header_({}, 1, table.file_) {
    table_.texts_ = {""};
    text_ids_[""] = 0;
  }

  void take(const RecordView& record) {
    if (header_.empty())
      header(record);
    else
      row(record);
  }

  void finish(const std::optional<TornRecord>& torn) const {
    if (torn)
      refuse(torn->line, torn->fields,
             "the last line is torn, it has no line end; complete the file with attnprof sweep --resume, or "
             "remove the line");
    if (header_.empty())
      throw UsageError(fmt::format("{}, line 1: it is empty; give a CSV file with a header", table_.file_));
  }

 private:
  [[noreturn]] void refuse(size_t line, size_t field, std::string_view why) const {
    header_.refuse(line, field, why);
  }

  [[noreturn]] void refuse_missing(std::string_view name) const {
    throw UsageError(
        fmt::format("{}, line {}: column {} is missing{}", table_.file_, header_.line(), name, remedy()));
  }

  size_t required(std::string_view name) const {
    const size_t at = position(name);
    if (at == none) refuse_missing(name);
    return at;
  }

  std::string_view remedy() const {
    switch (table_.layout_.source) {
      case Source::results:
        return "; give a result of attnprof sweep, or --key and --metric for another CSV";
      case Source::build:
        return "; make the file again with this version's attnprof compile -o";
      case Source::resources:
        return "; make the file again with this version's attnprof resources -o";
      case Source::other:
        break;
    }
    return "";
  }

  size_t position(std::string_view name) const { return header_.position(name).value_or(none); }

  void header(const RecordView& record) {
    header_ = CsvHeader(record.fields, record.line, table_.file_);
    table_.header_ = header_.names();
    table_.layout_ = layout_of(table_.header_, key_option_, metrics_option_);
    find_columns();
  }

  void find_columns() {
    const Layout& layout = table_.layout_;
    key_ = IdentityCells(header_, layout.key,
                         layout.source == Source::other ? Absence::refused : Absence::filled,
                         [this](const std::string& name) { refuse_missing(name); });
    for (const Metric& metric : layout.metrics) values_.push_back(required(metric.column));
    const bool results = layout.source == Source::results;
    for (size_t i = 0; i < static_cast<size_t>(Extra::count); ++i) {
      const auto extra = static_cast<Extra>(i);
      const bool optional = extra >= Extra::hbm_counts, wanted = results || extra >= Extra::occupancy;
      values_.push_back(!wanted ? none : optional ? position(column_of(extra)) : required(column_of(extra)));
    }
    for (size_t i = 0; i < static_cast<size_t>(Fact::count); ++i) {
      const auto fact = static_cast<Fact>(i);
      const std::string_view name = column_of(fact);
      const bool wanted = has_fact(layout.source, fact);
      facts_.push_back(!wanted ? none : fact == Fact::file ? position(name) : required(name));
    }
    if (results) rules_.emplace(header_);
  }

  static bool has_fact(Source source, Fact fact) {
    switch (source) {
      case Source::results:
        return fact != Fact::error && fact != Fact::asked_tile && fact != Fact::file;
      case Source::build:
        return fact == Fact::run || fact == Fact::env_id || fact == Fact::br || fact == Fact::bc ||
               fact == Fact::knobs_used || fact == Fact::asked_tile || fact == Fact::error ||
               fact == Fact::file;
      case Source::resources:
        return fact == Fact::run || fact == Fact::env_id;
      case Source::other:
        break;
    }
    return false;
  }

  void row(const RecordView& record) {
    header_.check(record);
    if (rules_) rules_->check(record);  // every cell, gated or not
    add_key(record);
    for (size_t i = 0; i < static_cast<size_t>(Fact::count); ++i)
      table_.facts_.push_back(facts_[i] == none ? 0 : intern(record.fields[facts_[i]]));
    for (size_t i = 0; i < values_.size(); ++i) table_.values_.push_back(value(record, i));
    table_.lines_.push_back(static_cast<uint32_t>(record.line));
    if (table_.layout_.source == Source::other) return;
    require_facts(record, {Fact::run, Fact::env_id});
    if (rules_) require_facts(record, {Fact::backend, Fact::disposition});
  }

  void require_facts(const RecordView& record, std::initializer_list<Fact> facts) const {
    for (Fact fact : facts)
      if (table_.fact(table_.rows() - 1, fact).empty())
        refuse(record.line, facts_[static_cast<size_t>(fact)], "it is empty");
  }

  void add_key(const RecordView& record) {
    for (size_t i = 0; i < key_.size(); ++i) {
      const std::string& field = key_.text(record, i);
      if (i > 0) table_.key_text_ += ',';
      table_.key_text_ += csv_field(field);
    }
    table_.key_ends_.push_back(table_.key_text_.size());
  }

  double value(const RecordView& record, size_t index) const {
    const size_t field = values_[index];
    if (field == none || record.fields[field].empty()) return empty_value(record, index);
    if (rules_) return rules_->number(field);
    const auto value = parsed_number<double>(record.fields[field]);
    if (!value) refuse(record.line, field, fmt::format("'{}' is not a finite number", record.fields[field]));
    if (table_.layout_.source != Source::other && *value < 0)
      refuse(record.line, field, fmt::format("{} is below 0", record.fields[field]));
    return *value;
  }

  // In a file of other people's every metric is required, in a build file most of those of every kernel that
  // compiled.
  double empty_value(const RecordView& record, size_t index) const {
    if (index >= table_.layout_.metrics.size() || table_.layout_.source == Source::results ||
        table_.layout_.metrics[index].optional)
      return empty_cell;
    const size_t error = facts_[static_cast<size_t>(Fact::error)];
    if (error != none && !record.fields[error].empty()) return empty_cell;
    refuse(record.line, values_[index], "it is empty");
  }

  uint32_t intern(const std::string& text) {
    const auto [entry, added] = text_ids_.try_emplace(text, static_cast<uint32_t>(table_.texts_.size()));
    if (added) table_.texts_.push_back(text);
    return entry->second;
  }

  Table& table_;
  const std::vector<std::string>& key_option_;
  const std::vector<Metric>& metrics_option_;
  CsvHeader header_;
  IdentityCells key_;
  std::vector<size_t> values_, facts_;  // fields of the record
  std::optional<RowRules> rules_;       // of rows of ours
  std::unordered_map<std::string, uint32_t> text_ids_;
};

Table::Table(std::istream& stream, const std::string& file, const std::vector<std::string>& key,
             const std::vector<Metric>& metrics)
    : file_(file) {
  TableReader reader(*this, key, metrics);
  reader.finish(for_each_record(stream, file, [&](const RecordView& record) { reader.take(record); }));
}

}  // namespace attnprof
