// What the cells of a row can hold: the one set of rules by which every command reads rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv_header.hpp"

namespace attnprof {

// Why what was written by this schema cannot be read, as a sentence; nothing where it can. Columns come and
// go within a schema (an absent one has a meaning): in another, something by a name of ours means something
// else.
std::optional<std::string> unreadable_schema(std::string_view written);

// Holds the records of a file, by its header's columns of the schema, to kind, sign, range, known words, the
// order of an interval, and what a row that is ok has. Of other columns it knows nothing.
class RowRules {
 public:
  RowRules() = default;
  explicit RowRules(const CsvHeader& header);

  // Throws UsageError with file, line and column for a record that no row can be.
  void check(const RecordView& record);
  // Of the record that was checked last: NaN where the cell is empty or no number's.
  double number(size_t field) const { return numbers_[field]; }

 private:
  enum class Kind { unknown, text, whole, real };
  struct Cell {
    Kind kind = Kind::unknown;
    bool required = false;
    double lowest = 0, highest = 0;                // of a number
    std::span<const std::string_view> words = {};  // all that a text can be, where that is a closed list
    bool several = false;                          // of them, with ';' between
  };
  // Of two columns that the header has: where both have a value, `low` is at most `high`.
  struct Order {
    size_t low, high, told;
    std::string_view why;
  };
  // A row that is ok and has `word` there has numbers in these.
  struct Measured {
    size_t source;
    std::string_view word, why;
    std::vector<size_t> numbers;
  };

  static Cell cell_of(std::string_view column);
  void find_orders(const CsvHeader& header);
  void find_measured(const CsvHeader& header);
  void check_text(const RecordView& record, size_t field) const;
  double parsed(const RecordView& record, size_t field) const;
  void check_orders(const RecordView& record) const;
  void check_measured(const RecordView& record) const;
  [[noreturn]] void refuse(const RecordView& record, size_t field, std::string_view why) const;

  CsvHeader header_;
  std::vector<Cell> cells_;
  std::vector<Order> orders_;
  std::vector<Measured> measured_;
  std::optional<size_t> schema_, disposition_;
  std::vector<double> numbers_;
};

}  // namespace attnprof
