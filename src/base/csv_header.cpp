#include "base/csv_header.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace attnprof {

CsvHeader::CsvHeader(std::span<const std::string> names, size_t line, std::string_view file)
    : file_(file), line_(line), names_(names.begin(), names.end()) {
  if (names_.size() == 1) refuse_other_separator(names_.front(), file);
  for (size_t i = 0; i < names_.size(); ++i)
    if (position(names_[i]) != i) refuse(line_, i, "it stands twice; keep one");
}

std::optional<size_t> CsvHeader::position(std::string_view column) const {
  const auto found = std::ranges::find(names_, column);
  return found == names_.end() ? std::nullopt : std::optional(static_cast<size_t>(found - names_.begin()));
}

void CsvHeader::check(const RecordView& record) const {
  if (record.fields.size() == names_.size()) return;
  refuse(record.line, std::min(record.fields.size(), names_.size()) - 1,
         fmt::format("the line has {} fields where the header has {}", record.fields.size(), names_.size()));
}

void CsvHeader::refuse(size_t line, size_t field, std::string_view why) const {
  throw UsageError(fmt::format("{}, line {}, column {}: {}", file_, line,
                               field < names_.size() ? names_[field] : fmt::format("{}", field + 1), why));
}

}  // namespace attnprof
