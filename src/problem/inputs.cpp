#include "problem/inputs.hpp"

#include "lib/kv_pages.h"
#include "lib/random_value.h"
#include "problem/rounding.hpp"

namespace attnprof {
namespace {

static_assert(static_cast<int>(InputKind::normal) == attention_input_normal);
static_assert(static_cast<int>(InputKind::outliers) == attention_input_outliers);

// Of a block table; beyond the pages of a sequence a number that is no page's.
float page_number(const Operand& table, int64_t index) {
  const int64_t sequence = index / table.row_pitch, page = index % table.row_pitch;
  if (page >= table.cols) return -1;
  return static_cast<float>(shuffled_page(sequence * table.cols + page, table.batch * table.cols));
}

float input_element(const Operand& operand, const InputSource& source, uint64_t index) {
  if (operand.init == Init::pages) return page_number(operand, static_cast<int64_t>(index));
  const int kind = static_cast<int>(source.kind);
  const auto tensor = static_cast<unsigned>(operand.id);
  if (operand.init == Init::scale) return attnprof_fp8_scale(source.seed, tensor, index, kind);
  return round_to(operand.dtype, operand.dtype == ElementType::e4m3
                                     ? attnprof_fp8_value(source.seed, tensor, index, kind)
                                     : attnprof_input_value(source.seed, tensor, index, kind));
}

}  // namespace

std::string_view to_string(InputKind kind) { return kind == InputKind::normal ? "normal" : "outliers"; }

std::string_view describe(InputKind kind) {
  return kind == InputKind::normal ? "random, near N(0, 1)"
                                   : "random, near N(0, 1) + N(0, 100) Bernoulli(0.001)";
}

std::vector<float> input_elements(const Operand& operand, const InputSource& source, int64_t first,
                                  int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = input_element(operand, source, static_cast<uint64_t>(first) + i);
  return values;
}

}  // namespace attnprof
