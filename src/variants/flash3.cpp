// FlashAttention-3 forward (Shah et al. 2024, Algorithms 1 and 2), for Hopper: flash2's passes over K and V
// by TMA and wgmma, from persistent blocks. In fp8 a step before it turns V.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "base/saturating.hpp"
#include "lib/flash3_layout.h"
#include "lib/flash3_order.h"
#include "schedule/fp8.hpp"
#include "schedule/mma_tile.hpp"
#include "schedule/occupancy.hpp"
#include "schedule/online_softmax.hpp"
#include "schedule/tiling.hpp"
#include "schedule/variant.hpp"
#include "variants/flash3_prepare.hpp"

namespace attnprof {

extern const Variant flash3_variant;

namespace {

constexpr int wgmma_rows = 64;     // of Q, one warpgroup's
constexpr int most_consumers = 4;  // warpgroups
constexpr int most_bc = 256;       // columns of wgmma, rows of a TMA box

constexpr std::array knobs = {
    Knob{"stages", "K, V tiles in shared memory", 1, 4},
    Knob{"min_blocks", "blocks an SM", 1, 2},
    Knob{"ping_pong", "1: warpgroups take turns at multiplying", 0, 1},
    Knob{"optimistic", "1: P is first tried with the maximum of earlier tiles; takes more registers", 0, 1},
    Knob{"time_v_layout", "fp8: 1 times the step that turns V as part of the operation", 0, 1},
};

// At least one, also for a Br that `unsupported` will refuse.
int consumers_of(const Tile& tile) { return std::max(1, tile.br / wgmma_rows); }

bool is_fp8(const Problem& p) { return p.dtype == Dtype::fp8; }

// What one wgmma contracts, in elements: Bc and head_dim are multiples of it.
int depth(const Problem& p) { return is_fp8(p) ? 32 : 16; }

// How the kernel is built for a tile (macros of kernels/flash3.cu).
struct Shape {
  int consumers = 1;
  int threads = 0;
  int min_blocks = 1;
  int stages = 2;
  bool ping_pong = false;
  bool optimistic = true;
  int64_t smem_bytes = 0;
};

int64_t smem_bytes(const Problem& p, const Tile& tile, int stages) {
  return flash3_smem_bytes(consumers_of(tile), static_cast<int>(p.head_dim), tile.bc,
                           static_cast<int>(bytes_per_element(p.dtype)), stages);
}

// Registers a consumer's thread must have, and has.
struct Registers {
  int needed, available;
  bool fit() const { return needed <= available; }
};
Registers registers_of(const Problem& p, const Tile& tile, int min_blocks, bool optimistic) {
  constexpr int beside = 8;  // at least: row statistics, addresses
  const int held = flash3_held_registers(static_cast<int>(p.head_dim), tile.bc,
                                         static_cast<int>(bytes_per_element(p.dtype)), optimistic);
  return {held + beside, flash3_consumer_registers(consumers_of(tile), min_blocks, held)};
}

// The compiler knows no more registers than a thread starts with when it places one wgmma: its accumulators,
// and some 30 beside them.
int instruction_registers(const Problem& p, const Tile& tile) {
  return std::max(tile.bc, static_cast<int>(p.head_dim)) / 2 + 30;
}

// One consumer warpgroup leaves room for a second block. Four stages if they fit, or two: a ring of three
// costs a division in every step. Turns pay under a causal mask alone (results/h200/pages/notes-forward.md).
Shape shape_of(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  Shape shape{.consumers = consumers_of(tile)};
  shape.threads = (shape.consumers + 1) * 128;
  const auto fits = [&](int blocks, int stages) {
    return smem_of_blocks(blocks, smem_bytes(p, tile, stages)) <= device.smem_per_sm_bytes;
  };
  const auto blocks = tile.knobs.get("min_blocks"), stages = tile.knobs.get("stages");
  constexpr int comfort = 32;  // registers beside what must fit, without which a second block does not pay
  const Registers of_two = registers_of(p, tile, 2, true);
  const bool second = shape.consumers == 1 && fits(2, stages.value_or(1)) &&
                      of_two.needed + comfort <= of_two.available &&
                      instruction_registers(p, tile) <= flash3_registers_at_start(1, 2);
  shape.min_blocks = blocks.value_or(second ? 2 : 1);
  shape.stages = stages.value_or(fits(shape.min_blocks, 4) ? 4 : fits(shape.min_blocks, 2) ? 2 : 1);
  const bool room = registers_of(p, tile, shape.min_blocks, true).fit();
  shape.optimistic = tile.knobs.get("optimistic").value_or(room) != 0;
  const bool turns = shape.consumers > 1 && p.mask == Mask::causal;
  shape.ping_pong = tile.knobs.get("ping_pong").value_or(turns) != 0;
  shape.smem_bytes = smem_bytes(p, tile, shape.stages);
  return shape;
}

std::optional<std::string> problem_unsupported(const Problem& p, const DeviceProfile& device) {
  if (p.dtype == Dtype::fp32) return "flash3 takes fp16, bf16 and fp8: its products run on tensor cores";
  if (device.arch != "sm_90a")
    return fmt::format("flash3 is built on wgmma, which sm_90a (H100, H200) alone has; {} is {}", device.name,
                       device.arch);
  if (p.head_dim % depth(p) != 0 || p.head_dim > 256)
    return fmt::format("flash3 takes head_dim in multiples of {} up to 256 in {}, not {}", depth(p),
                       to_string(p.dtype), p.head_dim);
  return std::nullopt;
}

// Host and kernel number them alike (kernels/lib/flash3_order.h), with room for a group that is not whole.
std::optional<std::string> too_many_tiles(const Problem& p, const Tile& tile) {
  constexpr int64_t most = int64_t{1} << 30;
  const int64_t tiles = saturating_product({ceil_div(p.q_len, tile.br), p.heads, p.batch});
  if (tiles <= most) return std::nullopt;
  return fmt::format("flash3 numbers its tiles of Q up to {}, the case has {}", most, tiles);
}

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  if (auto reason = problem_unsupported(p, device)) return reason;
  if (tile.br < wgmma_rows || tile.br % wgmma_rows != 0 || tile.br > most_consumers * wgmma_rows)
    return fmt::format("flash3 takes Br = 64, 128, 192 or 256, one warpgroup for 64 rows, not {}", tile.br);
  if (tile.bc < depth(p) || tile.bc % depth(p) != 0 || tile.bc > most_bc)
    return fmt::format("flash3 takes Bc in multiples of {} up to {} in {}, not {}", depth(p), most_bc,
                       to_string(p.dtype), tile.bc);
  if (auto reason = too_many_tiles(p, tile)) return reason;
  const Shape shape = shape_of(p, tile, device);
  const int start = flash3_registers_at_start(shape.consumers, shape.min_blocks);
  if (const int needed = instruction_registers(p, tile); needed > start)
    return fmt::format(
        "flash3 at {}x{} and head_dim {} has a wgmma of about {} registers, {} warpgroups start with {}",
        tile.br, tile.bc, p.head_dim, needed, (shape.consumers + 1) * shape.min_blocks, start);
  if (const Registers r = registers_of(p, tile, shape.min_blocks, shape.optimistic); !r.fit())
    return fmt::format(
        "flash3 keeps S, O and {} in registers: {}x{} at "
        "head_dim {} takes {} a thread, {} warpgroups leave {}",
        shape.optimistic ? "two P" : "P", tile.br, tile.bc, p.head_dim, r.needed,
        shape.consumers * shape.min_blocks, r.available);
  if (shape.min_blocks > 1) return blocks_lack_smem(shape.min_blocks, shape.smem_bytes, device);
  return std::nullopt;  // one block: plan/skip has its limit
}

Knobs knobs_used(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  const Shape shape = shape_of(p, tile, device);
  return {{"stages", shape.stages},
          {"min_blocks", shape.min_blocks},
          {"ping_pong", shape.ping_pong ? 1 : 0},
          {"optimistic", shape.optimistic ? 1 : 0},
          {"time_v_layout", tile.knobs.get("time_v_layout").value_or(0)}};
}

// The fastest tiles measured on an H200 (results/h200/pages/notes-forward.md), by the head_dim and lengths
// they were measured at: the largest whose S, O and two P stay in registers; more rows of Q, and so fewer
// bytes from L2, where that leaves room for three warpgroups; of short sequences, what divides them.
constexpr int64_t any_length = std::numeric_limits<int64_t>::max();
struct Tuned {
  int64_t head_dim, length;  // up to here
  Tile full, causal;
};
constexpr std::array tuned_16bit = {
    Tuned{64, 1024, {64, 128}, {128, 128}},        Tuned{64, any_length, {192, 96}, {192, 96}},
    Tuned{96, any_length, {128, 128}, {128, 128}}, Tuned{128, any_length, {128, 128}, {128, 128}},
    Tuned{192, any_length, {128, 80}, {128, 96}},  Tuned{256, 512, {128, 64}, {128, 64}},
    Tuned{256, any_length, {128, 80}, {128, 80}},
};
constexpr std::array tuned_fp8 = {
    Tuned{64, any_length, {192, 128}, {192, 128}}, Tuned{96, any_length, {192, 96}, {192, 96}},
    Tuned{128, any_length, {192, 96}, {128, 128}}, Tuned{192, any_length, {128, 128}, {128, 128}},
    Tuned{256, any_length, {128, 96}, {128, 96}},
};

const Tuned& tuned_for(std::span<const Tuned> table, const Problem& p) {
  const auto found = std::ranges::find_if(table, [&](const Tuned& t) {
    return p.head_dim <= t.head_dim && std::max(p.q_len, p.kv_len) <= t.length;
  });
  return found == table.end() ? table.back() : *found;
}

TileChoice default_tile(const Problem& p, const DeviceProfile&) {
  const Tuned& tuned = is_fp8(p) ? tuned_for(tuned_fp8, p) : tuned_for(tuned_16bit, p);
  const std::string lengths = tuned.length == any_length ? "" : fmt::format(" up to N = {}", tuned.length);
  return {p.mask == Mask::causal ? tuned.causal : tuned.full,
          fmt::format("fastest measured on an H200 at head_dim {}{}, {}, {}", tuned.head_dim, lengths,
                      is_fp8(p) ? "fp8" : "bf16", to_string(p.mask))};
}

std::vector<Tile> candidates(const Problem& p, const DeviceProfile& device) {
  std::vector<Tile> tiles;
  for (int br = wgmma_rows; br <= 3 * wgmma_rows; br += wgmma_rows)
    for (int bc = 64; bc <= most_bc; bc += depth(p))
      if (const Tile tile{br, bc}; !unsupported(p, tile, device)) tiles.push_back(tile);
  return tiles;
}

// Two counters that the blocks take their tiles from; the kernel leaves them at zero. In fp8, V^T.
std::vector<Operand> workspace(const Problem& p, const Tile&) {
  std::vector<Operand> all = {{"tile_counter", Role::workspace, Init::zero, ElementType::int32, 1, 1, 1,
                               sector_floats, sector_floats}};
  if (is_fp8(p)) all.push_back(transposed_v(p));
  return all;
}

OperandId v_operand(const Problem& p) { return is_fp8(p) ? workspace_id(1) : operand_v; }

// One tile of Q against every visible K, V tile, from the last.
struct Block {
  const Problem& p;
  const Tile& tile;
  const OperandList& ops;
  int64_t slice, row;
  TileMachine& machine;

  TileValues read(OperandId operand, int64_t of_slice, int64_t first_row, int64_t rows, float scale) const {
    const Region region = row_tile(ops[operand], of_slice, first_row, rows);
    machine.receive_zeros((rows - region.rows) * p.head_dim * bytes_per_element(p.dtype));
    return dequantised(machine.read(region), scale);
  }

  TileValues read_v(int64_t key, float scale) const {
    if (!is_fp8(p)) return read(operand_v, kv_slice(p, slice), key, tile.bc, scale);
    return dequantised(read_transposed_v(p, v_operand(p), kv_slice(p, slice), key, tile.bc, machine), scale);
  }

  void run() const {
    const float q_scale = read_scale(p, operand_q_scale, slice, machine);
    const float k_scale = read_scale(p, operand_k_scale, kv_slice(p, slice), machine);
    const float v_scale = read_scale(p, operand_v_scale, kv_slice(p, slice), machine);
    const KeyTiles tiles = key_tiles(p, slice, row, tile.br, tile.bc);
    const Region o_region = row_tile(ops[operand_o], slice, row, tile.br);
    TileValues q;
    if (tiles.count() > 0) q = read(operand_q, slice, row, tile.br, q_scale);
    OnlineSoftmax state(machine.numeric() ? o_region.rows : 0, p.head_dim);
    tiles.for_each_from_last([&](int64_t j) {
      const int64_t key = j * tile.bc;
      const TileValues k = read(operand_k, kv_slice(p, slice), key, tile.bc, k_scale);
      const TileValues v = read_v(key, v_scale);
      machine.execute(Unit::tensor, 4 * int64_t{tile.br} * tile.bc * p.head_dim);
      machine.execute(Unit::exp, int64_t{tile.br} * tile.bc);
      // Every warpgroup reads all of K and V.
      machine.execute(Unit::smem, (consumers_of(tile) + 1) * 2 * int64_t{tile.bc} * p.head_dim *
                                      bytes_per_element(p.dtype));
      if (machine.numeric()) state.add_tile(p, q, {slice, row}, k, v, key);
    });
    machine.execute(Unit::round,
                    tiles.count() + 3);  // and to take up a tile of Q, for the first of K, to write O
    machine.write(o_region, state.normalised());
  }
};

Flash3Order order_of(const Problem& p, const Tile& tile) {
  return Flash3Order::make(static_cast<int>(ceil_div(p.q_len, tile.br)), static_cast<int>(p.heads * p.batch),
                           static_cast<int>(p.group()),
                           flash3_kv_kib(p.kv_len, p.head_dim, static_cast<int>(bytes_per_element(p.dtype))),
                           p.mask == Mask::causal);
}

// Panels as kernels/lib/flash3_tile.cuh lays them out.
TensorMap panels(OperandId operand, int64_t box_rows, int64_t row_elements, ElementType type) {
  const int element = static_cast<int>(bytes_per_element(type));
  const int width = flash3_panel_width(static_cast<int>(row_elements) * element);
  return {operand, box_rows, width / element, width};
}

std::vector<TensorMap> tensor_maps(const Problem& p, const Tile& tile) {
  const ElementType type = element_of(p.dtype);
  const TensorMap v = is_fp8(p) ? panels(v_operand(p), p.head_dim, tile.bc, type)
                                : panels(operand_v, tile.bc, p.head_dim, type);
  return {panels(operand_q, wgmma_rows, p.head_dim, type), panels(operand_k, tile.bc, p.head_dim, type), v};
}

KernelLaunch launch_of(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  const Shape shape = shape_of(p, tile, device);
  const int64_t tiles = ceil_div(p.q_len, tile.br) * p.heads * p.batch;
  KernelLaunch kernel;
  kernel.file = "flash3.cu";
  kernel.entry = "flash3";
  kernel.macros = kernel_macros(p, tile.br, tile.bc);
  kernel.grid = {std::min<int64_t>(tiles, int64_t{shape.min_blocks} * device.sms), 1, 1};
  kernel.threads = shape.threads;
  kernel.smem_bytes = shape.smem_bytes;
  kernel.expected_registers = flash3_registers_at_start(shape.consumers, shape.min_blocks);
  kernel.tensor_maps = tensor_maps(p, tile);
  kernel.macros.emplace_back("STAGES", std::to_string(shape.stages));
  kernel.macros.emplace_back("MIN_BLOCKS", std::to_string(shape.min_blocks));
  kernel.macros.emplace_back("PING_PONG", shape.ping_pong ? "1" : "0");
  kernel.macros.emplace_back("OPTIMISTIC", shape.optimistic ? "1" : "0");
  return kernel;
}

// The schedule counts tiles of Q, not blocks: a block that is done takes up the next tile, as the device
// would start the next block.
std::vector<Step> steps(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  std::vector<Step> all;
  if (is_fp8(p))
    all.push_back(transpose_v_step(p, v_operand(p), tile.knobs.get("time_v_layout").value_or(0) != 0));
  const Flash3Order order = order_of(p, tile);
  Schedule schedule{order.tiles(), [p, tile, order, ops = case_operands(flash3_variant, p, tile)](
                                       int64_t index, TileMachine& machine) {
                      const Flash3Tile at = order.tile(static_cast<int>(index));
                      Block{p, tile, ops, at.slice, int64_t{at.q_tile} * tile.br, machine}.run();
                    }};
  schedule.kv_heads_together = std::max<int64_t>(1, order.width / p.group());
  all.push_back({.name = "attention",
                 .launch = launch_of(p, tile, device),
                 .schedule = std::move(schedule),
                 .pace = {.unit = ProductUnit::wgmma, .round_cycles = 740, .warps = 4 * consumers_of(tile)}});
  return all;
}

}  // namespace

const Variant flash3_variant{
    .name = "flash3",
    .idea =
        "flash2 from persistent blocks: one warp copies (TMA), "
        "warpgroups multiply (wgmma) and exponentiate by turns",
    .needs =
        "sm_90a; fp16, bf16, fp8; head_dim multiple of 16 (fp8: 32) up to 256; Br multiple of 64 up to "
        "256, Bc multiple of 16 (fp8: 32), as registers hold",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
    .knobs = knobs,
    .knobs_used = knobs_used,
    .candidates = candidates,
};

}  // namespace attnprof
