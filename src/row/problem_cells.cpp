#include "row/problem_cells.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace attnprof {
namespace {

ProblemCells::Cell empty_cell(const ProblemField& field) {
  return field.is_count() ? ProblemCells::Cell(Count()) : ProblemCells::Cell(std::string());
}

template <class Kind, class Cell>
auto& of_kind(Cell& cell, std::string_view field) {
  if (auto* value = std::get_if<Kind>(&cell)) return *value;
  throw std::logic_error(fmt::format("field {} is of another kind", field));
}

template <class Kind>
const Kind& read(const std::vector<ProblemCells::Cell>& cells, std::string_view field) {
  static const Kind nothing{};
  const size_t index = problem_field_index(field);
  return index < cells.size() ? of_kind<Kind>(cells[index], field) : nothing;
}

std::string text_of(const ProblemCells::Cell& cell) {
  if (const Count* count = std::get_if<Count>(&cell)) return *count ? fmt::format("{}", **count) : "";
  return std::get<std::string>(cell);
}

}  // namespace

ProblemCells::ProblemCells() {
  cells_.reserve(problem_fields().size());
  for (const ProblemField& field : problem_fields()) cells_.push_back(empty_cell(field));
}

ProblemCells::ProblemCells(const Problem& problem) {
  cells_.reserve(problem_fields().size());
  for (const ProblemField& field : problem_fields())
    cells_.push_back(field.is_count() ? Cell(Count(problem.*field.count))
                                      : Cell(std::string(field.word(problem))));
}

// Cells made before a test registered a field lack it.
ProblemCells::Cell& ProblemCells::at(size_t field) {
  const auto fields = problem_fields();
  while (cells_.size() < fields.size()) cells_.push_back(empty_cell(fields[cells_.size()]));
  return cells_.at(field);
}

std::string& ProblemCells::word(std::string_view field) {
  return of_kind<std::string>(at(problem_field_index(field)), field);
}
Count& ProblemCells::count(std::string_view field) {
  return of_kind<Count>(at(problem_field_index(field)), field);
}
const std::string& ProblemCells::word(std::string_view field) const {
  return read<std::string>(cells_, field);
}
const Count& ProblemCells::count(std::string_view field) const { return read<Count>(cells_, field); }

std::string ProblemCells::text(size_t field) const {
  return field < cells_.size() ? text_of(cells_[field]) : "";
}

bool ProblemCells::set_text(size_t field, std::string_view text) {
  Cell& cell = at(field);
  if (auto* word = std::get_if<std::string>(&cell)) {
    *word = text;
    return true;
  }
  Count& count = std::get<Count>(cell);
  count.reset();
  if (text.empty()) return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count.emplace());
  return error == std::errc{} && end == text.data() + text.size();
}

std::string ProblemCells::absent_text(const ProblemField& field) const {
  return field.absent_as.empty() ? std::string(field.absent) : text(field.absent_as);
}

bool ProblemCells::tells(size_t field) const {
  const ProblemField& of = problem_fields()[field];
  return of.first_schema || text(field) != absent_text(of);
}

std::optional<Problem> problem_of(const ProblemCells& cells) {
  Problem problem;
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    if (!fields[i].set(problem, cells.text(i))) return std::nullopt;
  return contradiction(problem) ? std::nullopt : std::optional(problem);
}

}  // namespace attnprof
