// The row schema: one array declares every column. CSV header and cells, JSON, table, worker messages, gate
// and the README's column table all come from it.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "row/row.hpp"

namespace attnprof {

inline constexpr std::string_view schema_version = "1";

enum class Group {
  identity,
  provenance,
  resolved,
  status,
  verify,
  latency,
  counters,
  model,
  roofline,
  build
};
std::string_view to_string(Group group);

// Where a column lives in a row.
using Field = std::variant<std::string*, Count*, Real*>;

struct Column {
  std::string_view name;  // with its unit: latency_median_ns
  Group group;
  std::string_view description;  // definition, unit, source; one sentence
  Field (*at)(Row&);             // null: a cell of the problem
  size_t problem_position = 0;   // which, in problem_fields()

  Field field(Row& row) const;
  const ProblemField* problem_field() const;  // null where it is none of the problem
};

std::span<const Column> schema();
const Column* find_column(std::string_view name);  // null if there is none
std::vector<const Column*> identity_columns();
std::vector<std::string> identity_names();

// Whether the row says something in this column that is not said by leaving it out: all but the columns of
// later fields of the problem at their absent value. What is made of rows for people, or in a form of its
// own, has the columns that tell something in one of its rows.
bool tells(const Column& column, const Row& row);
template <class Rows>
bool tells_in_any(const Column& column, const Rows& rows) {
  return !column.problem_field() || column.problem_field()->first_schema ||
         std::ranges::any_of(rows, [&](const Row& row) { return tells(column, row); });
}

// The cell's text: empty when absent; numbers in the C locale, integers in full, reals to 6 significant
// digits.
std::string cell(const Column& column, const Row& row);
// The reverse. Throws UsageError naming the column when the text is no finite number (for a number column).
void set_cell(const Column& column, Row& row, std::string_view text);

// A closed list: everything a row can be flagged with.
enum class Flag {
  above_ceiling,   // a rate above the ceiling it is held to: the measurement or the ceiling is wrong
  drift,           // last third of the samples differs from the first by more than 3 %
  throttled,       // the driver reported a clock limit during the timed run
  gpu_shared,      // another process was on the GPU
  few_samples,     // fewer than 6: no confidence interval
  imprecise,       // --max-time was spent before --precision was reached
  uncalibrated,    // the model's L2 is assumed, not calibrated, for this device
  noisy_bytes,     // repeated counts of HBM bytes differ by more than 2 % and 1 MB
  graph,           // a traced CUDA graph: its kernels are counted as one
  other_launches,  // a traced launch: some counts are those of other launches of the same kernel
};
std::string_view to_string(Flag flag);
void add_flag(Status& status, Flag flag);
bool has_flag(const Status& status, Flag flag);

}  // namespace attnprof
