// flash1 and flash2: the schedules' numbers against the fp64 reference, their bytes and FLOPs against closed
// forms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>

#include "problem/flops.hpp"
#include "problem/operands.hpp"
#include "schedule/mma_tile.hpp"
#include "schedule/tile_machine.hpp"
#include "schedule/tiling.hpp"
#include "schedule/variant.hpp"
#include "variants/algorithm1.hpp"
#include "variants/registry.hpp"
#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

DeviceProfile large_device() {
  DeviceProfile device;
  device.smem_per_sm_bytes = 228 * 1024;
  device.smem_per_block_bytes = 227 * 1024;
  return device;
}

Problem problem_of(int64_t q_len, int64_t kv_len, Mask mask = Mask::full, int64_t heads = 1,
                   int64_t kv_heads = 1, int64_t head_dim = 64) {
  Problem p;
  p.q_len = q_len, p.kv_len = kv_len, p.mask = mask;
  p.heads = heads, p.kv_heads = kv_heads, p.head_dim = head_dim;
  return p;
}

TestMachine run(const char* name, const Problem& p, const Tile& tile, bool numeric) {
  const Variant& variant = *find_variant(name);
  TestMachine machine(case_operands(variant, p, tile), numeric);
  const std::vector<Step> steps = variant.steps(p, tile, large_device());
  EXPECT_EQ(steps.size(), 1u);
  EXPECT_EQ(std::get<KernelLaunch>(steps[0].launch).grid.count(), steps[0].schedule.ctas);
  for (int64_t cta = 0; cta < steps[0].schedule.ctas; ++cta) steps[0].schedule.run(cta, machine);
  return machine;
}

struct Lengths {
  int64_t q, k;
};

class FlashNumbers : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Variants, FlashNumbers, testing::Values("flash1", "flash2"));

TEST_P(FlashNumbers, EqualTheReferenceForEveryShapeMaskAndTile) {
  for (const Lengths& n : {Lengths{1, 1}, {17, 17}, {129, 129}, {1, 129}, {33, 129}, {129, 33}})
    for (Mask mask : {Mask::full, Mask::causal})
      for (const Tile& tile : {Tile{16, 16}, Tile{64, 32}, Tile{32, 64}}) {
        const Problem p = problem_of(n.q, n.k, mask);
        const Verification result = verify_against_reference(run(GetParam(), p, tile, true), p);
        EXPECT_EQ(result.verified, "yes") << n.q << "x" << n.k << " " << to_string(mask) << " tile "
                                          << tile.br << "x" << tile.bc << " error " << *result.rel_err;
      }
}

TEST_P(FlashNumbers, EqualTheReferenceWithGroupedHeadsBatchesAndBf16) {
  Problem p = problem_of(40, 70, Mask::causal, 6, 2, 32);
  p.batch = 2, p.dtype = Dtype::bf16;
  EXPECT_EQ(verify_against_reference(run(GetParam(), p, {16, 32}, true), p).verified, "yes");
}

TEST_P(FlashNumbers, RowsThatSeeNoKeyAreZero) {
  const Problem p = problem_of(40, 8, Mask::causal);
  const TestMachine machine = run(GetParam(), p, {16, 16}, true);
  for (float value : machine.slice(operand_o, 0).subspan(0, 32 * 64)) ASSERT_EQ(value, 0.0f);
  EXPECT_EQ(verify_against_reference(machine, p).verified, "yes");
}

TEST_P(FlashNumbers, CountingMovesAndExecutesTheSameAsComputing) {
  const Problem p = problem_of(129, 70, Mask::causal, 2, 1);
  TestMachine counted = run(GetParam(), p, {32, 16}, false), computed = run(GetParam(), p, {32, 16}, true);
  EXPECT_EQ(counted.traffic.executed, computed.traffic.executed);
  EXPECT_EQ(counted.traffic.read, computed.traffic.read);
  EXPECT_EQ(counted.traffic.written, computed.traffic.written);
}

TEST(Flash2, ReadsQOnceKAndVOncePerQTileAndWritesOOnce) {
  const Problem p = problem_of(1024, 1024, Mask::full, 4, 2);
  TestMachine machine = run("flash2", p, {64, 64}, false);
  const int64_t head_bytes = 1024 * 64 * 2, query_tiles = 16;
  EXPECT_EQ(machine.traffic.read["Q"], 4 * head_bytes);
  EXPECT_EQ(machine.traffic.read["K"], 4 * query_tiles * head_bytes);
  EXPECT_EQ(machine.traffic.read["V"], 4 * query_tiles * head_bytes);
  EXPECT_EQ(machine.traffic.written["O"], 4 * head_bytes);
  EXPECT_EQ(machine.traffic.operations(Unit::tensor), useful_flops(p));
}

TEST(Flash2, CausalReadsTheTilesUpToTheDiagonal) {
  const Problem p = problem_of(1024, 1024, Mask::causal);
  TestMachine machine = run("flash2", p, {128, 64}, false);
  const int64_t pairs = 2 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);  // Q tile i sees 2 (i + 1) K, V tiles
  EXPECT_EQ(machine.traffic.read["K"], pairs * 64 * 64 * 2);
  EXPECT_EQ(machine.traffic.operations(Unit::tensor), pairs * 4 * 128 * 64 * 64);
}

TEST(Flash2, RaggedTailsMoveValidRowsAndExecuteWholeTiles) {
  const Problem p = problem_of(129, 129);
  TestMachine machine = run("flash2", p, {64, 64}, false);
  EXPECT_EQ(machine.traffic.read["Q"], 129 * 64 * 2);
  EXPECT_EQ(machine.traffic.read["K"], 3 * 129 * 64 * 2);
  EXPECT_EQ(machine.traffic.written["O"], 129 * 64 * 2);
  EXPECT_EQ(machine.traffic.operations(Unit::tensor), 9 * 4 * 64 * 64 * 64);
}

TEST(Flash2, CausalBlocksRunLongestFirst) {
  const Problem p = problem_of(256, 256, Mask::causal);
  const Variant& variant = *find_variant("flash2");
  const std::vector<Step> steps = variant.steps(p, {64, 64}, large_device());
  int64_t before = std::numeric_limits<int64_t>::max();
  for (int64_t cta = 0; cta < 4; ++cta) {
    TestMachine machine(case_operands(variant, p, {64, 64}), false);
    steps[0].schedule.run(cta, machine);
    EXPECT_LT(machine.traffic.operations(Unit::tensor), before);
    before = machine.traffic.operations(Unit::tensor);
  }
}

TEST(Flash1, ReadsKAndVOnceAndMovesOOncePerKeyTile) {
  const Problem p = problem_of(1024, 1024);
  TestMachine machine = run("flash1", p, {64, 64}, false);
  const int64_t head_bytes = 1024 * 64 * 2, key_tiles = 16;
  EXPECT_EQ(machine.traffic.read["K"], head_bytes);
  EXPECT_EQ(machine.traffic.read["V"], head_bytes);
  EXPECT_EQ(machine.traffic.read["Q"], key_tiles * head_bytes);
  // The first pass finds nothing to read; the last one writes the output instead.
  EXPECT_EQ(machine.traffic.read["O_fp32"], (key_tiles - 1) * 2 * head_bytes);
  EXPECT_EQ(machine.traffic.written["O_fp32"], (key_tiles - 1) * 2 * head_bytes);
  EXPECT_EQ(machine.traffic.written["O"], head_bytes);
  for (const char* statistic : {"l", "m"}) {
    EXPECT_EQ(machine.traffic.read[statistic], (key_tiles - 1) * 1024 * 4);
    EXPECT_EQ(machine.traffic.written[statistic], key_tiles * 1024 * 4);
  }
  EXPECT_EQ(machine.traffic.operations(Unit::tensor), useful_flops(p));
}

TEST(Flash1, CausalSkipsPairsAboveTheDiagonal) {
  const Problem p = problem_of(256, 256, Mask::causal);
  TestMachine machine = run("flash1", p, {64, 64}, false);
  EXPECT_EQ(machine.traffic.read["K"], 256 * 64 * 2);
  EXPECT_EQ(machine.traffic.read["Q"], (4 + 3 + 2 + 1) * 64 * 64 * 2);
  EXPECT_EQ(machine.traffic.read["O_fp32"], (3 + 2 + 1) * 64 * 64 * 4);
  EXPECT_EQ(machine.traffic.operations(Unit::tensor), 10 * 4 * 64 * 64 * 64);
}

TEST(Flash1, StatisticsStartAtWholeSectors) {
  const std::vector<Operand> workspace = find_variant("flash1")->workspace(problem_of(129, 129), {64, 64});
  EXPECT_EQ(workspace[1].row_pitch, 136);
  EXPECT_EQ(workspace[1].cols, 129);
}

TEST(Algorithm1, BlockSizesAndTileCounts) {
  EXPECT_EQ(algorithm1_tile(4 * 64 * 64, 64), (Tile{64, 64}));
  EXPECT_EQ(algorithm1_tile(96 * 1024, 128), (Tile{128, 192}));
  EXPECT_EQ(algorithm1_tile(10000, 128), (Tile{20, 20}));  // ceil(10000 / 512)
  EXPECT_EQ(ceil_div(1024, 64), 16);
}

TEST(Algorithm1, TilesOf64Take40Kilobytes) {
  EXPECT_EQ(algorithm1_on_chip_elements({64, 64}, 64) * bytes_per_element(Dtype::fp16), 40 * 1024);
}

TEST(Flash1, DefaultTileIsAlgorithm1sReducedToWhatTheKernelHolds) {
  const auto tile_of = [](int64_t n, int64_t d, int64_t smem_bytes) {
    DeviceProfile device;
    device.smem_per_block_bytes = smem_bytes;
    return find_variant("flash1")->default_tile(problem_of(n, n, Mask::full, 1, 1, d), device).tile;
  };
  EXPECT_EQ(tile_of(4096, 64, 2 * 4 * 64 * 64), (Tile{64, 64}));  // M = 4 * 64 * 64: as written
  EXPECT_EQ(tile_of(4096, 128, 96 * 1024), (Tile{96, 96}));       // ceil(49152 / 512)
  EXPECT_EQ(tile_of(4096, 64, 227 * 1024), (Tile{64, 128}));      // 454 as written
  EXPECT_EQ(tile_of(4096, 128, 227 * 1024), (Tile{128, 128}));    // 227 as written
  EXPECT_EQ(tile_of(100, 128, 227 * 1024), (Tile{112, 112}));     // no wider than the keys
}

TEST_P(FlashNumbers, DefaultTilesRunOnSmallAndLargeDevices) {
  const Variant& variant = *find_variant(GetParam());
  DeviceProfile small = large_device();
  small.smem_per_sm_bytes = 100 * 1024, small.smem_per_block_bytes = 99 * 1024;
  for (const DeviceProfile& device : {small, large_device()})
    for (int64_t d = 16; d <= 256; d += 16)
      for (int64_t n : {1, 1000, 4096}) {
        const Problem p = problem_of(n, n, Mask::causal, 1, 1, d);
        const Tile tile = variant.default_tile(p, device).tile;
        EXPECT_EQ(variant.unsupported(p, tile, device), std::nullopt) << d;
        const std::vector<Step> steps = variant.steps(p, tile, device);
        EXPECT_LE(std::get<KernelLaunch>(steps[0].launch).smem_bytes, device.smem_per_block_bytes) << d;
      }
}

TEST(MmaTile, RegistersComeInWholePartitions) {
  EXPECT_EQ(available_registers(128, 2), 255);
  EXPECT_EQ(available_registers(128, 3), 168);
  EXPECT_EQ(available_registers(288, 1), 168);  // 9 warps: three a partition
  EXPECT_EQ(available_registers(1024, 1), 64);
  EXPECT_EQ(available_registers(64, 5), 168);  // 10 warps: three a partition, as 9 and 12
}

TEST_P(FlashNumbers, SayWhatTheyCannotRun) {
  const Variant& variant = *find_variant(GetParam());
  const auto reason = [&](const Problem& p, const Tile& tile) {
    return variant.unsupported(p, tile, large_device()).value_or("");
  };
  Problem fp32 = problem_of(64, 64);
  fp32.dtype = Dtype::fp32;
  EXPECT_THAT(reason(fp32, {64, 64}), testing::HasSubstr("fp16 and bf16"));
  EXPECT_THAT(reason(problem_of(64, 64, Mask::full, 1, 1, 72), {64, 64}), testing::HasSubstr("not 72"));
  EXPECT_THAT(reason(problem_of(64, 64), {528, 16}), testing::HasSubstr("33 warps"));
  EXPECT_THAT(reason(problem_of(64, 64), {64, 512}), testing::HasSubstr("Bc = 512"));
  EXPECT_EQ(reason(problem_of(64, 64, Mask::full, 1, 1, 16), {256, 16}), "");
}

}  // namespace
}  // namespace attnprof
