// A row's problem as its cells say it, one a field of problem/problem_fields: also what no problem of ours
// is, such as another tool's dtype or the "-" of a traced kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "problem/problem_fields.hpp"

namespace attnprof {

using Count = std::optional<int64_t>;

inline double as_double(const Count& count) { return static_cast<double>(count.value_or(0)); }  // 0: absent

class ProblemCells {
 public:
  using Cell = std::variant<std::string, Count>;

  ProblemCells();  // all empty
  explicit ProblemCells(const Problem& problem);

  // By name or place in problem_fields(). Throw std::logic_error where there is no such field, or it is of
  // the other kind.
  std::string& word(std::string_view field);
  const std::string& word(std::string_view field) const;
  Count& count(std::string_view field);
  const Count& count(std::string_view field) const;
  Cell& at(size_t field);
  std::string text(size_t field) const;  // empty: an empty cell
  std::string text(std::string_view field) const { return text(problem_field_index(field)); }
  // Says whether the text can be the cell's: of a count, whether it is a number or nothing.
  bool set_text(size_t field, std::string_view text);

  // What the absence of the field's column means in a row of these cells. The field may be absent.
  std::string absent_text(const ProblemField& field) const;
  // Whether a field says something here: not a later one at its absent value.
  bool tells(size_t field) const;

  bool operator==(const ProblemCells&) const = default;

 private:
  std::vector<Cell> cells_;
};

// The problem; nothing where the cells are none of ours.
std::optional<Problem> problem_of(const ProblemCells& cells);

}  // namespace attnprof
