// The header of a CSV file, by which every reader finds its columns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.hpp"

namespace attnprof {

class CsvHeader {
 public:
  CsvHeader() = default;
  // `file`: its name in errors. No names: of a file that has no header yet. Throws UsageError for a column
  // that stands twice.
  CsvHeader(std::span<const std::string> names, size_t line, std::string_view file);

  bool empty() const { return names_.empty(); }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& file() const { return file_; }
  size_t line() const { return line_; }
  std::optional<size_t> position(std::string_view column) const;

  // Throws UsageError for a record with another number of fields.
  void check(const RecordView& record) const;
  // UsageError "FILE, line N, column NAME: why"; `field`: of the record, also one beyond the header.
  [[noreturn]] void refuse(size_t line, size_t field, std::string_view why) const;

 private:
  std::string file_;
  size_t line_ = 1;
  std::vector<std::string> names_;
};

}  // namespace attnprof
