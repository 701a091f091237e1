// flash3: its schedule's numbers against the fp64 reference, bytes and FLOPs against counts made by hand, the
// order of its tiles, and what it asks of shared memory and registers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "device/device_profiles.hpp"
#include "lib/flash3_layout.h"
#include "lib/flash3_order.h"
#include "plan/skip.hpp"
#include "plan/sweep.hpp"
#include "problem/flops.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"
#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

const Variant& flash3() { return *find_variant("flash3"); }
Problem problem_of(Dtype dtype, int64_t q_len, int64_t kv_len, Mask mask = Mask::full, int64_t heads = 1,
                   int64_t kv_heads = 1, int64_t head_dim = 64) {
  return {.dtype = dtype,
          .mask = mask,
          .batch = 1,
          .heads = heads,
          .kv_heads = kv_heads,
          .q_len = q_len,
          .kv_len = kv_len,
          .head_dim = head_dim};
}

KernelLaunch kernel_of(const Problem& p, const Tile& tile, const DeviceProfile& device = h200()) {
  return std::get<KernelLaunch>(flash3().steps(p, tile, device).back().launch);
}

struct Flash3Lengths {
  int64_t q, k;
};

class Flash3Numbers : public testing::TestWithParam<Dtype> {};
INSTANTIATE_TEST_SUITE_P(Dtypes, Flash3Numbers, testing::Values(Dtype::fp16, Dtype::bf16, Dtype::fp8),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(Flash3Numbers, EqualTheReferenceForEveryShapeMaskAndTile) {
  for (const Flash3Lengths& n : {Flash3Lengths{1, 1}, {17, 17}, {129, 129}, {1, 129}, {33, 270}, {200, 33}})
    for (Mask mask : {Mask::full, Mask::causal})
      for (const Tile& tile : {Tile{64, 32}, Tile{128, 64}, Tile{192, 96}}) {
        const Problem p = problem_of(GetParam(), n.q, n.k, mask);
        const Verification result = verify_against_reference(run_variant(flash3(), p, tile, true), p);
        EXPECT_EQ(result.verified, "yes") << n.q << "x" << n.k << " " << to_string(mask) << " tile "
                                          << tile.br << "x" << tile.bc << " error " << *result.rel_err;
      }
}

TEST_P(Flash3Numbers, EqualTheReferenceWithGroupedHeadsAndBatches) {
  for (int64_t head_dim : {32, 96}) {
    Problem p = problem_of(GetParam(), 70, 110, Mask::causal, 6, 2, head_dim);
    p.batch = 2;
    EXPECT_EQ(verify_against_reference(run_variant(flash3(), p, {64, 64}, true), p).verified, "yes");
  }
}

TEST_P(Flash3Numbers, RowsThatSeeNoKeyAreZero) {
  const Problem p = problem_of(GetParam(), 200, 8, Mask::causal);
  const TestMachine machine = run_variant(flash3(), p, {64, 32}, true);
  for (float value : machine.slice(operand_o, 0).subspan(0, 192 * 64)) ASSERT_EQ(value, 0.0f);
  EXPECT_EQ(verify_against_reference(machine, p).verified, "yes");
}

TEST_P(Flash3Numbers, CountingMovesAndExecutesTheSameAsComputing) {
  const Problem p = problem_of(GetParam(), 129, 70, Mask::causal, 2, 1);
  const TestMachine counted = run_variant(flash3(), p, {64, 32}, false);
  const TestMachine computed = run_variant(flash3(), p, {64, 32}, true);
  EXPECT_EQ(counted.traffic.read, computed.traffic.read);
  EXPECT_EQ(counted.traffic.written, computed.traffic.written);
  EXPECT_EQ(counted.traffic.executed, computed.traffic.executed);
}

using Bytes = std::map<std::string, int64_t>;

TEST(Flash3Traffic, ReadsQOnceKAndVOncePerQTileAndWritesOOnce) {
  const Problem p = problem_of(Dtype::bf16, 1024, 1024, Mask::full, 4, 2);
  const Traffic t = run_variant(flash3(), p, {128, 64}, false).traffic;
  const int64_t head = 1024 * 64 * 2;
  EXPECT_EQ(t.read, (Bytes{{"Q", 4 * head}, {"K", 4 * 8 * head}, {"V", 4 * 8 * head}}));
  EXPECT_EQ(t.written, (Bytes{{"O", 4 * head}}));
  EXPECT_EQ(t.operations(Unit::tensor), useful_flops(p));
  EXPECT_EQ(t.operations(Unit::exp), 4 * 1024 * 1024);
}

TEST(Flash3Traffic, CausalReadsTheTilesUpToTheDiagonal) {
  const Problem p = problem_of(Dtype::fp16, 1024, 1024, Mask::causal);
  const Traffic t = run_variant(flash3(), p, {128, 64}, false).traffic;
  const int64_t pairs = 2 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);  // Q tile i sees 2 (i + 1) K, V tiles
  EXPECT_EQ(t.read, (Bytes{{"Q", 1024 * 128}, {"K", pairs * 64 * 128}, {"V", pairs * 64 * 128}}));
  EXPECT_EQ(t.operations(Unit::tensor), pairs * 4 * 128 * 64 * 64);
}

TEST(Flash3Traffic, RaggedTailsMoveValidRowsAndExecuteWholeTiles) {
  const Problem p = problem_of(Dtype::bf16, 129, 129);
  const Traffic t = run_variant(flash3(), p, {64, 48}, false).traffic;
  EXPECT_EQ(t.read, (Bytes{{"Q", 129 * 128}, {"K", 3 * 129 * 128}, {"V", 3 * 129 * 128}}));
  EXPECT_EQ(t.written, (Bytes{{"O", 129 * 128}}));
  EXPECT_EQ(t.operations(Unit::tensor), 3 * 3 * 4 * 64 * 48 * 64);
}

// Rows 0 to 191 see nothing: O is written, nothing is read.
TEST(Flash3Traffic, TilesThatSeeNoKeyReadNothing) {
  const Problem p = problem_of(Dtype::bf16, 200, 8, Mask::causal);
  const Traffic t = run_variant(flash3(), p, {64, 16}, false).traffic;
  EXPECT_EQ(t.read, (Bytes{{"Q", 8 * 128}, {"K", 8 * 128}, {"V", 8 * 128}}));
  EXPECT_EQ(t.written, (Bytes{{"O", 200 * 128}}));
  EXPECT_EQ(t.operations(Unit::tensor), 4 * 64 * 16 * 64);
}

// 333 keys are 352 columns of V^T and four tiles of 96 keys; 70 queries are two tiles of 64.
TEST(Flash3Traffic, Fp8ReadsVTransposedAndTheScalesOfItsHeads) {
  const Problem p = problem_of(Dtype::fp8, 70, 333, Mask::full, 4, 2);
  const Traffic t = run_variant(flash3(), p, {64, 96}, false).traffic;
  const int64_t blocks = 4 * 2, scales = blocks * 4;
  EXPECT_EQ(t.read, (Bytes{{"Q", 4 * 70 * 64},
                           {"K", blocks * 333 * 64},
                           {"V", 2 * 333 * 64},
                           {"V_T", blocks * 352 * 64},
                           {"q_scale", scales},
                           {"k_scale", scales},
                           {"v_scale", scales}}));
  EXPECT_EQ(t.written, (Bytes{{"V_T", 2 * 352 * 64}, {"O", 4 * 70 * 64 * 2}}));
  EXPECT_EQ(t.operations(Unit::tensor), blocks * 4 * 4 * 64 * 96 * 64);
}

TEST(Flash3Steps, VIsTurnedBeforeTheOperationOrTimedWithIt) {
  const Problem p = problem_of(Dtype::fp8, 512, 512);
  for (int timed : {0, 1}) {
    const std::vector<Step> steps = flash3().steps(p, {128, 128, {{"time_v_layout", timed}}}, h200());
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].name, "transpose_v");
    EXPECT_EQ(steps[0].timed, timed == 1);
    EXPECT_TRUE(steps[1].timed);
  }
  EXPECT_EQ(flash3().steps(p, {128, 128}, h200())[0].timed, false);
  EXPECT_EQ(flash3().steps(problem_of(Dtype::bf16, 512, 512), {128, 128}, h200()).size(), 1u);
}

TEST(Flash3Steps, BlocksStayAndTakeUpTiles) {
  const Problem few = problem_of(Dtype::bf16, 512, 512, Mask::full, 4, 4);
  EXPECT_EQ(kernel_of(few, {128, 64}).grid.count(), 16);
  const Problem many = problem_of(Dtype::bf16, 4096, 4096, Mask::full, 16, 16);
  EXPECT_EQ(kernel_of(many, {128, 64}).grid.count(), 132);
  EXPECT_EQ(kernel_of(many, {64, 64, {{"min_blocks", 2}}}).grid.count(), 264);
  EXPECT_EQ(flash3().steps(many, {128, 64}, h200()).back().schedule.ctas, 16 * 32);
}

// Every box lies in its operand's rows, and in shared memory in rows as wide as its swizzle.
TEST(Flash3Steps, TensorMapsCoverTheRowsOfTheirOperands) {
  for (Dtype dtype : {Dtype::bf16, Dtype::fp8})
    for (int64_t head_dim = 32; head_dim <= 256; head_dim += 32)
      for (int bc : {32, 96, 160}) {
        const Problem p = problem_of(dtype, 512, 512, Mask::full, 1, 1, head_dim);
        const OperandList all = case_operands(flash3(), p, {64, bc});
        for (const TensorMap& map : kernel_of(p, {64, bc}).tensor_maps) {
          const Operand& operand = all[map.operand];
          EXPECT_EQ(map.box_cols * bytes_per_element(operand.dtype), map.swizzle_bytes) << operand.name;
          EXPECT_LE(map.box_rows, 256) << operand.name;
          const int64_t tile_cols = operand.name == "V_T" ? bc : head_dim;
          EXPECT_EQ(tile_cols % map.box_cols, 0) << operand.name << " " << head_dim << " " << bc;
        }
      }
}

class Flash3Orders : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Masks, Flash3Orders, testing::Bool(),
                         [](const auto& test) { return test.param ? "causal" : "full"; });

std::vector<Flash3Order> orders(bool causal) {
  std::vector<Flash3Order> all;
  for (int q_tiles : {1, 2, 3, 7, 64})
    for (int kv_heads : {1, 2, 3, 5, 12, 13, 25, 64, 97})
      for (int share : {1, 2, 8})
        for (int kv_kib : {0, 1, 1000, 2048, 5000, 13000, 24 << 10, 30000, 1 << 20})
          all.push_back(Flash3Order::make(q_tiles, kv_heads * share, share, kv_kib, causal));
  return all;
}

TEST_P(Flash3Orders, TakeEveryTileOfQOnce) {
  for (const Flash3Order& order : orders(GetParam())) {
    std::set<std::pair<int, int>> taken;
    for (int i = 0; i < order.tiles(); ++i) {
      const Flash3Tile tile = order.tile(i);
      ASSERT_TRUE(tile.q_tile >= 0 && tile.q_tile < order.q_tiles) << i;
      ASSERT_TRUE(tile.slice >= 0 && tile.slice < order.slices) << i;
      taken.insert({tile.q_tile, tile.slice});
    }
    ASSERT_EQ(taken.size(), static_cast<size_t>(order.q_tiles) * static_cast<size_t>(order.slices))
        << order.q_tiles << " tiles, " << order.slices << " slices, width " << order.width;
  }
}

TEST(Flash3Order, FullGoesHeadAfterHead) {
  const Flash3Order order = Flash3Order::make(3, 4, 1, 1000, false);
  for (int i = 0; i < order.tiles(); ++i) {
    EXPECT_EQ(order.tile(i).slice, i / 3);
    EXPECT_EQ(order.tile(i).q_tile, i % 3);
  }
}

// The last queries see most keys. Within a group they come first; then the next group's.
TEST(Flash3Order, CausalGoesFromLongToShortTilesOfAGroup) {
  for (const Flash3Order& order : orders(true)) {
    ASSERT_GT(order.width, 0);
    const auto group = [&](int slice) { return (slice + order.missing) / order.width; };
    for (int i = 1; i < order.tiles(); ++i) {
      const Flash3Tile before = order.tile(i - 1), here = order.tile(i);
      ASSERT_LE(group(before.slice), group(here.slice));
      ASSERT_TRUE(group(before.slice) < group(here.slice) || before.q_tile >= here.q_tile);
    }
  }
}

TEST(Flash3Order, GroupsAreWholeKvHeadsThatFitL2AndTheFirstIsTheSmallOne) {
  for (int kv_heads : {1, 5, 12, 13, 25, 97})
    for (int share : {1, 8})
      for (int kv_kib : {100, 2048, 13000, 24 << 10, 1 << 20}) {
        const Flash3Order order = Flash3Order::make(4, kv_heads * share, share, kv_kib, true);
        EXPECT_EQ(order.width % share, 0);
        EXPECT_LT(order.missing, order.width);
        EXPECT_EQ((order.slices + order.missing) % order.width, 0);
        const int together = order.width / share;
        EXPECT_TRUE(together == 1 || int64_t{together} * kv_kib < 2 * flash3_group_kib) << together;
      }
  const Flash3Order uneven = Flash3Order::make(1, 25, 1, 2048, true);  // 12 heads fit: 12 and 13
  EXPECT_EQ(uneven.width, 13);
  EXPECT_EQ(uneven.missing, 1);
}

TEST(Flash3Order, TheScheduleFollowsIt) {
  const Problem p = problem_of(Dtype::bf16, 512, 512, Mask::causal, 4, 2);
  const Tile tile{64, 64};
  const Schedule schedule = flash3().steps(p, tile, h200()).back().schedule;
  int64_t before = std::numeric_limits<int64_t>::max();
  for (int64_t cta = 0; cta < schedule.ctas; ++cta) {
    TestMachine machine(case_operands(flash3(), p, tile), false);
    schedule.run(cta, machine);
    EXPECT_LE(machine.traffic.operations(Unit::tensor), before);
    before = machine.traffic.operations(Unit::tensor);
  }
  EXPECT_EQ(schedule.kv_heads_together, 2);
}

TEST(Flash3Layout, SharedMemoryIsQRingsBarriersAndWork) {
  // Q 64 x 16, one stage of K and V 16 x 16, six barriers, two Works.
  EXPECT_EQ(flash3_smem_bytes(1, 16, 16, 2, 1), 2048 + 2 * 512 + 6 * 8 + 2 * 16);
  // Q in fp8: 4 x 64 x 32; four stages of 32 x 32; 24 barriers, eight Works.
  EXPECT_EQ(flash3_smem_bytes(4, 32, 32, 1, 4), 8192 + 4 * 2 * 1024 + 24 * 8 + 8 * 16);
  EXPECT_EQ(kernel_of(problem_of(Dtype::bf16, 512, 512), {128, 80, {{"stages", 3}}}).smem_bytes,
            flash3_smem_bytes(2, 64, 80, 2, 3));
}

// A swizzle repeats every eight rows of its width: what starts elsewhere would be read at other places than
// it was written to. Tiles lie behind one another as SharedMemory has them: Q, K's ring, V's ring.
TEST(Flash3Layout, TilesStartWhereTheirSwizzleRepeats) {
  for (const int element : {1, 2})
    for (int d = 32 / element; d <= 256; d += 32 / element)
      for (int bc = 32 / element; bc <= 256; bc += 32 / element) {
        const auto repeats = [](int rows, int row_bytes, int first) {
          const int width = flash3_panel_width(row_bytes);
          return row_bytes % width == 0 && rows * width % (8 * width) == 0 && first % (8 * width) == 0;
        };
        const int k_at = 64 * d * element, tile = bc * d * element;
        EXPECT_TRUE(repeats(64, d * element, k_at)) << "Q " << d;
        EXPECT_TRUE(repeats(bc, d * element, k_at)) << "K " << d << " " << bc;
        EXPECT_TRUE(repeats(bc, d * element, tile)) << "K's ring " << d << " " << bc;
        const int v_rows = element == 1 ? d : bc, v_row_bytes = element == 1 ? bc : d * element;
        EXPECT_TRUE(repeats(v_rows, v_row_bytes, tile)) << "V " << d << " " << bc;
        EXPECT_TRUE(repeats(v_rows, v_row_bytes, k_at)) << "V behind Q " << d << " " << bc;
      }
}

// A warpgroup that asks for more registers than there are waits for ever.
TEST(Flash3Layout, RegistersAreSharedOutWithinWhatABlockStartsWith) {
  for (int consumers = 1; consumers <= 4; ++consumers)
    for (int blocks = 1; blocks <= 2; ++blocks)
      for (int held = 8; held <= 240; held += 4) {
        const int start = flash3_registers_at_start(consumers, blocks);
        const int producer = flash3_producer_registers(consumers, held);
        const int consumer = flash3_consumer_registers(consumers, blocks, held);
        EXPECT_LE(start * 128 * (consumers + 1) * blocks, 65536);
        EXPECT_LE(producer + consumers * consumer, start * (consumers + 1)) << consumers << " " << blocks;
        for (int registers : {start, producer, consumer}) EXPECT_EQ(registers % 8, 0);
        EXPECT_GE(producer, 24);     // setmaxnreg takes 24 to 256
        EXPECT_GE(start, producer);  // .dec
        // .inc; the compiler builds a kernel for no more than its largest request.
        EXPECT_LE(std::min(start, 240), consumer) << consumers << " " << blocks << " " << held;
      }
}

Case case_with(const Problem& p, int br, int bc, const Knobs& knobs = {},
               const DeviceProfile& device = h200()) {
  Case c;
  c.variant = &flash3();
  c.problem = p;
  c.requested = {br, bc, knobs};
  resolve(c, device, device.hbm_bytes);
  return c;
}

TEST(Flash3Supports, OnlyHopper) {
  const Problem p = problem_of(Dtype::bf16, 512, 512);
  for (const char* name : {"a100-sxm-80g", "b200", "rtx4090"}) {
    const DeviceProfile& device = *find_profile(name);
    EXPECT_EQ(flash3().unsupported(p, {128, 128}, device),
              fmt::format("flash3 is built on wgmma, which sm_90a (H100, H200) alone has; {} is {}", name,
                          device.arch));
  }
  for (const char* name : {"h100-sxm", "h200"})
    EXPECT_EQ(flash3().unsupported(p, {128, 128}, *find_profile(name)), std::nullopt) << name;
}

TEST(Flash3Supports, SaysWhatItCannotRun) {
  const auto reason = [](Dtype dtype, int64_t head_dim, const Tile& tile) {
    return flash3()
        .unsupported(problem_of(dtype, 512, 512, Mask::full, 1, 1, head_dim), tile, h200())
        .value_or("runs");
  };
  EXPECT_EQ(reason(Dtype::fp32, 64, {64, 64}),
            "flash3 takes fp16, bf16 and fp8: its products run on tensor cores");
  EXPECT_EQ(reason(Dtype::bf16, 24, {64, 64}),
            "flash3 takes head_dim in multiples of 16 up to 256 in bf16, not 24");
  EXPECT_EQ(reason(Dtype::fp8, 48, {64, 64}),
            "flash3 takes head_dim in multiples of 32 up to 256 in fp8, not 48");
  EXPECT_THAT(reason(Dtype::fp16, 272, {64, 64}), HasSubstr("not 272"));
  for (int br : {16, 32, 96, 320})
    EXPECT_EQ(reason(Dtype::bf16, 64, {br, 64}),
              fmt::format("flash3 takes Br = 64, 128, 192 or 256, one warpgroup for 64 rows, not {}", br));
  for (int bc : {0, 24, 264, 272})
    EXPECT_EQ(reason(Dtype::bf16, 64, {64, bc}),
              fmt::format("flash3 takes Bc in multiples of 16 up to 256 in bf16, not {}", bc));
  EXPECT_EQ(reason(Dtype::fp8, 64, {64, 48}), "flash3 takes Bc in multiples of 32 up to 256 in fp8, not 48");
  EXPECT_EQ(reason(Dtype::fp16, 64, {64, 16}), "runs");
  EXPECT_EQ(reason(Dtype::fp8, 32, {256, 32}), "runs");
}

TEST(Flash3Supports, SaysWhatDoesNotFit) {
  const Problem p = problem_of(Dtype::bf16, 512, 512);
  // S, O and P of 192 x 176: 88 + 32 + 44 registers and 8 more; three warpgroups share 4 x 128 less the
  // producer's 32.
  EXPECT_EQ(case_with(p, 192, 176).skip,
            "flash3 keeps S, O and P in registers: 192x176 at "
            "head_dim 64 takes 172 a thread, 3 warpgroups leave 160");
  EXPECT_EQ(
      case_with(p, 128, 128, {{"min_blocks", 2}}).skip,
      "flash3 at 128x128 and head_dim 64 has a wgmma of about 94 registers, 6 warpgroups start with 80");
  const Problem wide = problem_of(Dtype::bf16, 512, 512, Mask::full, 1, 1, 128);
  EXPECT_EQ(case_with(wide, 64, 64, {{"stages", 4}, {"min_blocks", 2}}).skip,
            "min_blocks = 2 needs 297312 bytes of shared memory an SM, h200 has 233472");
  const Problem widest = problem_of(Dtype::bf16, 512, 512, Mask::full, 1, 1, 256);
  EXPECT_THAT(case_with(widest, 128, 80, {{"stages", 3}}).skip.value_or("runs"),
              HasSubstr("bytes of shared memory a block, h200 allows 232448"));
  EXPECT_THAT(case_with(p, 64, 64, {{"stages", 5}}).skip.value_or("runs"), HasSubstr("stages"));
}

std::vector<Problem> every_kind() {
  std::vector<Problem> all;
  for (Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp8})
    for (Mask mask : {Mask::full, Mask::causal})
      for (int64_t d = dtype == Dtype::fp8 ? 32 : 16; d <= 256; d += dtype == Dtype::fp8 ? 32 : 16)
        for (int64_t n : {1, 512, 4096}) all.push_back(problem_of(dtype, n, n, mask, 16, 16, d));
  return all;
}

std::string text(const Problem& p) {
  return fmt::format("{} {} d{} N{}", to_string(p.dtype), to_string(p.mask), p.head_dim, p.q_len);
}

TEST(Flash3Tiles, DefaultsRunOnEveryHopperWithoutGivingUpTheSecondStage) {
  for (const char* name : {"h100-sxm", "h200"})
    for (const Problem& p : every_kind()) {
      Case c;
      c.variant = &flash3();
      c.problem = p;
      resolve(c, *find_profile(name), find_profile(name)->hbm_bytes);
      EXPECT_EQ(c.skip, std::nullopt) << text(p);
      EXPECT_FALSE(c.tile_reason.empty());
      EXPECT_LE(kernel_of(p, c.tile, *find_profile(name)).smem_bytes,
                find_profile(name)->smem_per_block_bytes)
          << text(p);
      EXPECT_GE(c.tile.knobs.get("stages").value_or(0), 2) << text(p);
    }
}

TEST(Flash3Tiles, ShortSequencesHaveTilesThatDivideThem) {
  const auto tile = [](int64_t n, int64_t head_dim, Mask mask, Dtype dtype = Dtype::bf16) {
    const TileChoice chosen = flash3().default_tile(problem_of(dtype, n, n, mask, 1, 1, head_dim), h200());
    return fmt::format("{}x{} {}", chosen.tile.br, chosen.tile.bc, chosen.reason);
  };
  EXPECT_EQ(tile(512, 64, Mask::full),
            "64x128 fastest measured on an H200 at head_dim 64 up to N = 1024, bf16, full");
  EXPECT_EQ(tile(1024, 64, Mask::causal),
            "128x128 fastest measured on an H200 at head_dim 64 up to N = 1024, bf16, causal");
  EXPECT_EQ(tile(1025, 64, Mask::causal), "192x96 fastest measured on an H200 at head_dim 64, bf16, causal");
  EXPECT_EQ(tile(512, 256, Mask::causal),
            "128x64 fastest measured on an H200 at head_dim 256 up to N = 512, bf16, causal");
  EXPECT_EQ(tile(513, 256, Mask::full), "128x80 fastest measured on an H200 at head_dim 256, bf16, full");
  EXPECT_EQ(tile(512, 64, Mask::full, Dtype::fp8),
            "192x128 fastest measured on an H200 at head_dim 64, fp8, full");
}

// `tune` cannot find what it does not try.
TEST(Flash3Tiles, CandidatesAreTilesItTakesAndTheDefaultIsAmongThem) {
  for (const Problem& p : every_kind()) {
    const std::vector<Tile> candidates = flash3().candidates(p, h200());
    size_t runnable = 0;
    for (const Tile& tile : candidates) {
      const std::string skip = case_with(p, tile.br, tile.bc).skip.value_or("");
      runnable += skip.empty();
      EXPECT_THAT(skip, testing::AnyOf("", HasSubstr("in registers"), HasSubstr("shared memory"))) << text(p);
    }
    EXPECT_GE(runnable, 5u) << text(p);
    const Tile by_default = flash3().default_tile(p, h200()).tile;
    EXPECT_TRUE(std::ranges::any_of(candidates, [&](const Tile& tile) {
      return tile.br == by_default.br && tile.bc == by_default.bc;
    })) << text(p);
  }
}

TEST(Flash3Knobs, InForceTheyMakeTheSameKernel) {
  size_t ran = 0;
  for (Dtype dtype : {Dtype::bf16, Dtype::fp8})
    for (int br : {64, 128, 192, 256})
      for (int bc : {32, 96, 160})
        for (int64_t head_dim : {64, 128, 256})
          for (const Knobs& knobs :
               {Knobs{}, Knobs{{"stages", 1}}, Knobs{{"min_blocks", 1}, {"ping_pong", 0}},
                Knobs{{"ping_pong", 1}, {"time_v_layout", 1}}}) {
            const Problem p = problem_of(dtype, 1024, 1024, Mask::full, 4, 4, head_dim);
            const Case c = case_with(p, br, bc, knobs);
            if (c.skip) continue;
            ++ran;
            const KernelLaunch used = kernel_of(p, c.tile), asked = kernel_of(p, {br, bc, knobs});
            EXPECT_EQ(used.macros, asked.macros) << describe(c);
            EXPECT_EQ(used.smem_bytes, asked.smem_bytes) << describe(c);
            EXPECT_EQ(used.grid.count(), asked.grid.count()) << describe(c);
            EXPECT_EQ(flash3().knobs_used(p, c.tile, h200()), c.tile.knobs) << describe(c);
            for (const Knob& knob : flash3().knobs) {
              const auto value = c.tile.knobs.get(knob.name);
              ASSERT_TRUE(value) << knob.name;
              EXPECT_TRUE(knob.takes(*value)) << knob.name;
              EXPECT_EQ(*value, knobs.get(knob.name).value_or(*value)) << knob.name;
            }
          }
  EXPECT_GT(ran, 100u);
}

TEST(Flash3Knobs, TheRingHasFourTilesOrTwoAsTheyFit) {
  const auto stages = [](int64_t head_dim, const Tile& tile) {
    return case_with(problem_of(Dtype::bf16, 4096, 4096, Mask::full, 1, 1, head_dim), tile.br, tile.bc)
        .tile.knobs.get("stages")
        .value_or(0);
  };
  EXPECT_EQ(stages(64, {192, 96}), 4);    // 120 KB
  EXPECT_EQ(stages(64, {64, 128}), 2);    // two blocks of 72 KB, not of 136
  EXPECT_EQ(stages(128, {128, 128}), 2);  // 160 KB, not 288
  EXPECT_EQ(stages(256, {128, 160}), 0);  // registers
  EXPECT_EQ(stages(256, {64, 112}), 1);   // 144 KB, not 256
}

TEST(Flash3Knobs, WarpgroupsTakeTurnsUnderACausalMaskAlone) {
  for (const auto& [mask, br, turns] : {std::tuple{Mask::full, 128, "0"},
                                        {Mask::full, 192, "0"},
                                        {Mask::causal, 128, "1"},
                                        {Mask::causal, 192, "1"},
                                        {Mask::causal, 64, "0"}}) {
    const KernelLaunch kernel = kernel_of(problem_of(Dtype::bf16, 1024, 1024, mask), {br, 64});
    const std::map<std::string, std::string> macros(kernel.macros.begin(), kernel.macros.end());
    EXPECT_EQ(macros.at("PING_PONG"), turns) << br;
  }
}

TEST(Flash3Knobs, ArriveAtTheKernel) {
  const Problem p = problem_of(Dtype::bf16, 1024, 1024);
  const KernelLaunch kernel = kernel_of(p, {128, 48, {{"stages", 3}, {"min_blocks", 2}, {"ping_pong", 0}}});
  const std::map<std::string, std::string> macros(kernel.macros.begin(), kernel.macros.end());
  EXPECT_EQ(macros, (std::map<std::string, std::string>{{"DTYPE", "2"},
                                                        {"HEAD_DIM", "64"},
                                                        {"TILE_BR", "128"},
                                                        {"TILE_BC", "48"},
                                                        {"CAUSAL", "0"},
                                                        {"STAGES", "3"},
                                                        {"MIN_BLOCKS", "2"},
                                                        {"PING_PONG", "0"},
                                                        {"OPTIMISTIC", "1"}}));
  EXPECT_EQ(kernel.threads, 3 * 128);
  EXPECT_EQ(kernel.smem_bytes, flash3_smem_bytes(2, 64, 48, 2, 3));
}

}  // namespace
}  // namespace attnprof
