// FlashAttention forward (Dao 2022, Algorithm 1 as written): K, V tiles outside, Q tiles inside; O, l and m
// go to device memory and back at every inner step.
#include <fmt/format.h>

#include "schedule/mma_tile.hpp"
#include "schedule/online_softmax.hpp"
#include "schedule/tiling.hpp"
#include "schedule/variant.hpp"
#include "variants/algorithm1.hpp"

namespace attnprof {

extern const Variant flash1_variant;

namespace {

constexpr OperandId workspace_o = workspace_id(0), workspace_l = workspace_id(1),
                    workspace_m = workspace_id(2);

// Default tiles stay where the compiled kernel spills nothing: at most 128 keys, and S and O of a warp's 16
// rows in 152 registers a lane, (d + Bc) / 2.
constexpr int64_t default_max_bc = 128;
constexpr int64_t default_accumulators = 152;

// One K and one V tile, and two Q tiles: the next one is copied while one is used.
int64_t smem_bytes(const Problem& p, const Tile& tile) {
  return 2 * (int64_t{tile.br} + tile.bc) * p.head_dim * bytes_per_element(p.dtype);
}

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile&) {
  return mma_unsupported("flash1", p, tile, mma_rows);
}

// Algorithm 1's sizes in multiples of 16, Bc then reduced until S fits in registers beside O and the tiles in
// shared memory; no wider than the keys there are.
TileChoice default_tile(const Problem& p, const DeviceProfile& device) {
  const int64_t elements = device.smem_per_block_bytes / bytes_per_element(p.dtype);
  const Tile written = algorithm1_tile(elements, p.head_dim);
  const int64_t held = std::min(default_max_bc, 2 * default_accumulators - p.head_dim);
  const int64_t widest = std::min({round_up(written.bc, 16), round_up(p.kv_len, 16), held});
  Tile tile{static_cast<int>(std::min(round_up(written.br, 16), widest)), static_cast<int>(widest)};
  while (tile.bc > 16 &&
         (unsupported(p, tile, device) || smem_bytes(p, tile) > device.smem_per_block_bytes)) {
    tile.bc -= 16;
    tile.br = std::min(tile.br, tile.bc);
  }
  return {tile,
          fmt::format("Algorithm 1 with M = {} elements: Bc = ceil(M / 4d) = {}, Br = min(Bc, d) = {}; in "
                      "multiples of 16, no wider than kv_len, what registers and shared memory hold",
                      elements, written.bc, written.br)};
}

// O is normalised fp32. l and m are vectors; a slice starts at a whole sector.
std::vector<Operand> workspace(const Problem& p, const Tile&) {
  const auto tensor = [&](const char* name, int64_t rows, int64_t cols, int64_t pitch) {
    return Operand{name, Role::workspace, Init::poison, ElementType::fp32, p.batch, p.heads, rows, cols,
                   pitch};
  };
  return {tensor("O_fp32", p.q_len, p.head_dim, p.head_dim),
          tensor("l", 1, p.q_len, round_up(p.q_len, sector_floats)),
          tensor("m", 1, p.q_len, round_up(p.q_len, sector_floats))};
}

Region vector_tile(OperandId operand, int64_t slice, const Region& rows) {
  return {operand, slice, 0, 1, rows.row, rows.rows};
}

// One block's view of its (batch, head).
struct Block {
  const Problem& p;
  const Tile& tile;
  const OperandList& ops;
  int64_t slice;
  TileMachine& machine;

  TileValues read_rows(OperandId operand, int64_t row, int64_t rows) const {
    return machine.read(row_tile(ops[operand], slice, row, rows));
  }

  int64_t row_bytes() const { return p.head_dim * bytes_per_element(p.dtype); }
  int64_t state_bytes(const Region& rows) const { return rows.rows * (p.head_dim + 2) * 4; }

  // O, l, m of the rows as the pass before left them; in the first pass they are 0, 0, -inf and not read.
  OnlineSoftmax load_state(const Region& rows, bool first_pass) const {
    OnlineSoftmax state(machine.numeric() ? rows.rows : 0, p.head_dim);
    if (first_pass) return state;
    TileValues o = read_rows(workspace_o, rows.row, rows.rows);
    TileValues l = machine.read(vector_tile(workspace_l, slice, rows));
    TileValues m = machine.read(vector_tile(workspace_m, slice, rows));
    machine.execute(Unit::direct, state_bytes(rows));
    if (!machine.numeric()) return state;
    state.o = std::move(o), state.l = std::move(l.values), state.m = std::move(m.values);
    for (int64_t i = 0; i < rows.rows; ++i)  // line 12: diag(l_i) O_i
      for (int64_t c = 0; c < p.head_dim; ++c) state.o.at(i, c) *= state.l[static_cast<size_t>(i)];
    return state;
  }

  // The last pass over these rows writes the output itself, in its dtype, in place of fp32 O.
  void store_state(const Region& rows, const OnlineSoftmax& state, bool last_pass) const {
    Region o = rows;
    o.operand = last_pass ? operand_o : workspace_o;
    machine.write(o, state.normalised());
    machine.execute(Unit::direct, state_bytes(rows));
    machine.write(vector_tile(workspace_l, slice, rows), {1, rows.rows, state.l});
    machine.write(vector_tile(workspace_m, slice, rows), {1, rows.rows, state.m});
  }

  // One inner step: Q tile at `row` against the K, V tile at `key`.
  void inner_step(int64_t row, int64_t key, const TileValues& k, const TileValues& v) const {
    const Region rows = row_tile(ops[operand_o], slice, row, tile.br);
    const TileValues q = read_rows(operand_q, row, tile.br);
    OnlineSoftmax state = load_state(rows, key == 0);
    machine.execute(Unit::tensor, 4 * int64_t{tile.br} * tile.bc * p.head_dim);
    machine.execute(Unit::exp, int64_t{tile.br} * tile.bc);
    // Every warp reads all of K and V; Q is written and read.
    machine.execute(Unit::smem, (tile.br / mma_rows * 2 * int64_t{tile.bc} + 2 * tile.br) * row_bytes());
    machine.execute(Unit::round, 1);
    if (machine.numeric()) state.add_tile(p, q, {slice, row}, k, v, key);
    const bool last_pass = key / tile.bc == key_tiles(p, slice, row, tile.br, tile.bc).last();
    store_state(rows, state, last_pass);
  }
};

void run_block(const Problem& p, const Tile& tile, const OperandList& ops, int64_t slice,
               TileMachine& machine) {
  const Block block{p, tile, ops, slice, machine};
  // Causal with more queries than keys: the first Q tiles see no key, are in no pass and are zero.
  const auto seeing_rows = [&](int64_t key, int64_t end) {
    IndexRange rows = seeing(p, slice / p.heads, key, std::min(end, p.kv_len));
    rows.first = rows.first / tile.br * tile.br;  // whole tiles
    return rows;
  };
  if (const int64_t first = seeing_rows(0, p.kv_len).first; first > 0) {
    const Region unseen = row_tile(ops[operand_o], slice, 0, first);
    machine.write(unseen, OnlineSoftmax(machine.numeric() ? unseen.rows : 0, p.head_dim).normalised());
  }
  for (int64_t key = 0; key < p.kv_len; key += tile.bc) {
    const TileValues k = read_keys(p, ops[operand_k], slice, key, tile.bc, machine);
    const TileValues v = read_keys(p, ops[operand_v], slice, key, tile.bc, machine);
    machine.execute(Unit::smem, 2 * tile.bc * block.row_bytes());
    machine.execute(Unit::round, 1);
    const IndexRange rows = seeing_rows(key, key + tile.bc);
    for (int64_t row = rows.first; row < rows.end; row += tile.br) block.inner_step(row, key, k, v);
  }
}

std::vector<Step> steps(const Problem& p, const Tile& tile, const DeviceProfile&) {
  const int threads = tile.br / mma_rows * 32;
  KernelLaunch kernel{.file = "flash1.cu",
                      .entry = "flash1",
                      .macros = kernel_macros(p, tile.br, tile.bc),
                      .grid = {p.heads, p.batch, 1},
                      .threads = threads,
                      .smem_bytes = smem_bytes(p, tile),
                      .expected_registers = std::min(mma_registers(p.head_dim, tile.bc, mma_rows),
                                                     available_registers(threads, 1))};
  Schedule schedule{p.heads * p.batch,
                    [p, tile, ops = case_operands(flash1_variant, p, tile)](
                        int64_t cta, TileMachine& machine) { run_block(p, tile, ops, cta, machine); }};
  return {Step{.name = "attention",
               .launch = std::move(kernel),
               .schedule = std::move(schedule),
               .pace = {.unit = ProductUnit::mma, .round_cycles = 1520}}};
}

}  // namespace

const Variant flash1_variant{
    .name = "flash1",
    .idea = "K, V tile outside, Q inside; O, l, m updated in device memory; one block a head; tensor cores",
    .needs = "fp16, bf16; head_dim multiple of 16 up to 256; Br, Bc multiples of 16",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
};

}  // namespace attnprof
