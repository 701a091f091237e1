// Where the records of a file have the cells that name a row, whichever version wrote the file: a column that
// it lacks has what the absence of its field means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv_header.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {

enum class Absence {
  filled,   // by what it means
  refused,  // another tool's columns, which may have our names
};

class IdentityCells {
 public:
  IdentityCells() = default;
  // `missing` throws, of a column that is not there and may not be absent.
  template <class Missing>
  IdentityCells(const CsvHeader& header, const std::vector<std::string>& columns, Absence absence,
                Missing missing) {
    for (const std::string& column : columns) {
      const auto source = source_of(header, column, absence);
      if (!source) missing(column);
      sources_.push_back(*source);
    }
  }

  size_t size() const { return sources_.size(); }
  const std::string& text(const RecordView& record, size_t column) const {
    const Source& source = sources_[column];
    return source.field == none ? source.text : record.fields[source.field];
  }
  // The field that the cell's text is from, for the sentence of an error; 0 of a value that is not there.
  size_t field(size_t column) const { return sources_[column].field == none ? 0 : sources_[column].field; }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  struct Source {
    size_t field = none;
    std::string text = {};
  };
  static std::optional<Source> source_of(const CsvHeader& header, std::string_view column, Absence absence);

  std::vector<Source> sources_;
};

}  // namespace attnprof
