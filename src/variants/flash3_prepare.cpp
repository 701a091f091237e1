#include "variants/flash3_prepare.hpp"

#include "lib/flash3_layout.h"
#include "schedule/product.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Columns [key, key + cols) of V^T, where `key` starts a group.
TileValues turned(const TileValues& v, int64_t cols) {
  TileValues result = zero_tile(v.cols, cols);
  for (int64_t j = 0; j < v.rows; ++j)
    for (int64_t c = 0; c < v.cols; ++c) result.at(c, v_column(static_cast<int>(j))) = v.at(j, c);
  return result;
}

void run_block(const Operand& v, const Operand& vt, OperandId vt_operand, int64_t cta, TileMachine& machine) {
  const int64_t tiles = ceil_div(v.rows, transpose_v_keys);
  const int64_t slice = cta / tiles, key = cta % tiles * transpose_v_keys;
  const TileValues elements = machine.read(row_tile(v, slice, key, transpose_v_keys));
  const int64_t cols = std::min<int64_t>(transpose_v_keys, vt.cols - key);
  machine.write({vt_operand, slice, 0, vt.rows, key, cols},
                machine.numeric() ? turned(elements, cols) : TileValues{});
}

// The reverse: `rows` keys of columns that start a group.
TileValues turned_back(const TileValues& vt, int64_t rows) {
  TileValues result = zero_tile(rows, vt.rows);
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t c = 0; c < vt.rows; ++c) result.at(j, c) = vt.at(c, v_column(static_cast<int>(j)));
  return result;
}

}  // namespace

Operand transposed_v(const Problem& p) {
  const int64_t pitch = round_up(p.kv_len, v_column_group);
  return {"V_T",      Role::workspace, Init::poison, element_of(p.dtype), p.batch, p.kv_heads,
          p.head_dim, pitch,           pitch};
}

TileValues read_transposed_v(const Problem& p, OperandId vt_operand, int64_t slice, int64_t key, int64_t keys,
                             TileMachine& machine) {
  const int64_t columns = std::min(keys, transposed_v(p).cols - key);
  machine.receive_zeros((keys - columns) * p.head_dim);
  const TileValues vt = machine.read({vt_operand, slice, 0, p.head_dim, key, columns});
  return machine.numeric() ? turned_back(vt, std::min(keys, p.kv_len - key)) : TileValues{};
}

Step transpose_v_step(const Problem& p, OperandId vt_operand, bool timed) {
  KernelLaunch kernel;
  kernel.file = "flash3_transpose_v.cu";
  kernel.entry = "flash3_transpose_v";
  kernel.macros = {{"HEAD_DIM", std::to_string(p.head_dim)},
                   {"VT_WORKSPACE", std::to_string(vt_operand - operand_workspace)}};
  kernel.grid = {ceil_div(p.kv_len, transpose_v_keys), p.kv_heads, p.batch};
  kernel.threads = transpose_v_threads;
  kernel.expected_registers = 40;
  Schedule schedule{kernel.grid.count(),
                    [v = operands(p)[operand_v], vt = transposed_v(p), vt_operand](
                        int64_t cta, TileMachine& machine) { run_block(v, vt, vt_operand, cta, machine); }};
  return {"transpose_v", std::move(kernel), std::move(schedule), timed};
}

}  // namespace attnprof
