#include "row/identity_cells.hpp"

namespace attnprof {

std::optional<IdentityCells::Source> IdentityCells::source_of(const CsvHeader& header,
                                                              std::string_view column, Absence absence) {
  if (const auto place = header.position(column)) return Source{*place};
  const ProblemField* field = absence == Absence::filled ? find_problem_field(column) : nullptr;
  if (!field || !field->may_be_absent()) return std::nullopt;
  if (field->absent_as.empty()) return Source{none, std::string(field->absent)};
  return source_of(header, field->absent_as, absence);
}

}  // namespace attnprof
