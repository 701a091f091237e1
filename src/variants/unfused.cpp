#include "variants/unfused.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/score_rows.h"
#include "problem/visible.hpp"
#include "schedule/product.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

int element_bytes(const Problem& p) { return static_cast<int>(bytes_per_element(p.dtype)); }

// One row: exponentials of scale (s - max) over the visible keys, divided by their sum; zeros elsewhere.
TileValues softmax_row(const TileValues& s, const KeyRanges& seen, float scale, int64_t width) {
  TileValues p = zero_tile(1, width);
  if (seen.count == 0) return p;
  const auto for_each_key = [&](auto f) {
    for (int r = 0; r < seen.count; ++r)
      for (int64_t j = seen.at[r].first; j < seen.at[r].end; ++j) f(j);
  };
  float largest = -std::numeric_limits<float>::infinity(), sum = 0;
  for_each_key([&](int64_t j) { largest = std::max(largest, s.at(0, j)); });
  for_each_key([&](int64_t j) { sum += p.at(0, j) = std::exp(scale * (s.at(0, j) - largest)); });
  for_each_key([&](int64_t j) { p.at(0, j) /= sum; });
  return p;
}

}  // namespace

std::vector<Operand> score_workspace(const Problem& p) {
  const int64_t pitch = score_pitch(static_cast<int>(p.kv_len));
  const auto scores = [&](const char* name) {
    return Operand{.name = name,
                   .role = Role::workspace,
                   .init = Init::poison,
                   .dtype = element_of(p.dtype),
                   .batch = p.batch,
                   .heads = p.heads,
                   .rows = p.q_len,
                   .cols = pitch,
                   .row_pitch = pitch,
                   .is_score_matrix = true};
  };
  return {scores("S"), scores("P")};
}

Step softmax_step(const Problem& p, KernelLaunch kernel, float scale,
                  std::function<SoftmaxColumns(int64_t row)> columns) {
  const int kv_len = static_cast<int>(p.kv_len);
  const int64_t rows_per_block = softmax_rows_per_block(kv_len, element_bytes(p));
  const int64_t rows = p.batch * p.heads * p.q_len;
  kernel.grid = {ceil_div(rows, rows_per_block), 1, 1};
  kernel.threads = static_cast<int>(rows_per_block) * softmax_warps_per_row(kv_len, element_bytes(p)) * 32;
  kernel.expected_registers = 64;
  const auto run = [p, rows, rows_per_block, scale, columns](int64_t cta, TileMachine& machine) {
    const int64_t first = cta * rows_per_block;
    for (int64_t r = first; r < std::min(first + rows_per_block, rows); ++r) {
      const int64_t slice = r / p.q_len, row = r % p.q_len;
      const SoftmaxColumns cols = columns(row);
      const KeyRanges seen = visible(p, slice / p.heads, row);
      TileValues values;
      if (cols.read > 0) values = machine.read({operand_s, slice, row, 1, 0, cols.read});
      machine.execute(Unit::exp, 2 * key_count(seen));  // for the sum, and again for the output
      if (machine.numeric()) values = softmax_row(values, seen, scale, cols.write);
      if (cols.write > 0) machine.write({operand_p, slice, row, 1, 0, cols.write}, values);
    }
  };
  Schedule schedule{kernel.grid.count(), run};
  return {"softmax", std::move(kernel), std::move(schedule)};
}

std::optional<std::string> row_too_long(std::string_view variant, const Problem& p) {
  const int longest = softmax_max_columns(element_bytes(p));
  if (p.kv_len <= longest) return std::nullopt;
  return fmt::format(
      "{} keeps a row of S in the registers of one block: {} keys in {} at most, the case has {}", variant,
      longest, to_string(p.dtype), p.kv_len);
}

}  // namespace attnprof
