#include "problem/inputs.hpp"

#include <algorithm>

#include "lib/random_value.h"
#include "problem/kv_view.hpp"
#include "problem/rounding.hpp"

namespace attnprof {
namespace {

static_assert(static_cast<int>(InputKind::normal) == attention_input_normal);
static_assert(static_cast<int>(InputKind::outliers) == attention_input_outliers);

float input_element(const Operand& operand, const InputSource& source, uint64_t index) {
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

std::vector<int32_t> page_numbers(const Operand& table) {
  const PageShuffle shuffle(table.batch * table.cols);
  std::vector<int32_t> numbers(static_cast<size_t>(table.elements()), -1);
  for (int64_t sequence = 0; sequence < table.batch; ++sequence)
    for (int64_t page = 0; page < table.cols; ++page)
      numbers[static_cast<size_t>(sequence * table.row_pitch + page)] =
          static_cast<int32_t>(shuffle(sequence * table.cols + page));
  return numbers;
}

std::vector<float> input_elements(const Operand& operand, const InputSource& source, int64_t first,
                                  int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  if (operand.init == Init::pages) {
    const std::vector<int32_t> numbers = page_numbers(operand);
    std::copy_n(numbers.begin() + first, count, values.begin());
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = input_element(operand, source, static_cast<uint64_t>(first) + i);
  return values;
}

}  // namespace attnprof
