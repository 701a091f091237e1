#include "model/predict.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "model/counting_machine.hpp"
#include "model/simulate.hpp"
#include "problem/problem_fields.hpp"
#include "schedule/tiling.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

Problem square(int64_t n, int64_t head_dim, int64_t heads = 16) {
  Problem p;
  p.q_len = p.kv_len = n;
  p.head_dim = head_dim;
  p.heads = p.kv_heads = heads;
  return p;
}

Case case_of(const char* variant, const Problem& p, const DeviceProfile& device = h200()) {
  Case c;
  c.variant = find_variant(variant);
  c.problem = p;
  c.tile = c.variant->default_tile(p, device).tile;
  set_launches(c, device);
  return c;
}

// A variant of tests: one launch whose blocks do what a function says.
Schedule the_schedule;
std::vector<Operand> no_workspace(const Problem&, const Tile&) { return {}; }
std::vector<Step> one_step(const Problem&, const Tile&, const DeviceProfile&) {
  KernelLaunch kernel;
  kernel.threads = 128;
  return {Step{"only", kernel, the_schedule}};
}
const Variant one_launch{"one_launch", "", "", nullptr, nullptr, no_workspace, one_step};

Prediction predict_launch(const Problem& p, Schedule schedule) {
  the_schedule = std::move(schedule);
  Case c;
  c.variant = &one_launch;
  c.problem = p;
  static int ask_anew = 0;  // the last prediction is kept by case, and all these look alike
  c.tile.knobs.set("ask_anew", ++ask_anew);
  set_launches(c, h200());
  return predict_steps(c, h200());
}

// S and P, written and read once each: 8 N^2 bytes a head in fp16.
TEST(Predict, StandardAttentionMovesSAndPFourTimes) {
  for (const auto& [n, megabytes] :
       {std::pair<int64_t, double>{512, 2.1}, {1024, 8.4}, {4096, 134.2}, {16384, 2147.5}})
    for (const char* variant : {"naive", "standard"}) {
      const Model model = predict(case_of(variant, square(n, 64, 1)), h200());
      EXPECT_EQ(model.intermediate_bytes, 8 * n * n) << variant << " " << n;
      EXPECT_NEAR(static_cast<double>(*model.intermediate_bytes) / 1e6, megabytes, 0.05) << variant;
    }
}

TEST(Predict, TheSavingOfFusionGrowsAsNOverD) {
  for (const auto& [n, saving] : {std::pair{512, 8}, {4096, 64}}) {
    const Model naive = predict(case_of("naive", square(n, 64)), h200());
    const Model flash = predict(case_of("flash2", square(n, 64)), h200());
    EXPECT_EQ(*naive.intermediate_bytes, saving * *naive.io_lower_bound_bytes);
    EXPECT_EQ(flash.intermediate_bytes, 0);
  }
}

// Br = Bc = d = 64 in fp16: Q, K, V, S and O tiles of 8 KB each, 40 KB, and 16 by 16 of them at N = 1024.
TEST(Predict, TheTilesOfTheWorkedExample) {
  Case c = case_of("flash2", square(1024, 64, 1));
  c.tile = {64, 64};
  set_launches(c, h200());
  const auto steps = timed_steps(c);
  EXPECT_EQ(steps[0].schedule.ctas, 16);
  const OperandList ops = operands(c.problem);
  int64_t tile_bytes = 64 * 64 * bytes_per_element(Dtype::fp16);  // S
  for (const OperandId id : {operand_q, operand_k, operand_v, operand_o})
    tile_bytes += sector_bytes(ops[id], row_tile(ops[id], 0, 0, 64));
  EXPECT_EQ(tile_bytes, 40 * 1024);
  // Each of 16 blocks reads a Q tile, writes an O tile, and reads 16 K and 16 V tiles.
  EXPECT_EQ(predict(c, h200()).sm_bytes, 16 * (2 + 2 * 16) * 8192);
  EXPECT_EQ(predict(c, h200()).tensor_flops, 4 * 1024 * 1024 * 64);
}

TEST(Predict, FlashMovesTheLowerBoundWhenKAndVFit) {
  for (int64_t n : {512, 2048}) {
    const Model model = predict(case_of("flash2", square(n, 128)), h200());
    EXPECT_EQ(model.hbm_bytes, model.io_lower_bound_bytes);
  }
}

TEST(Predict, SAndPFarLargerThanL2AllReachHbm) {
  const Model model = predict(case_of("naive", square(4096, 64)), h200());
  EXPECT_NEAR(static_cast<double>(*model.hbm_bytes), 16 * 8.0 * 4096 * 4096, 0.06 * 16 * 8 * 4096 * 4096);
}

TEST(Predict, L2AbsorbsSmallSAndP) {
  const Prediction prediction = predict_steps(case_of("naive", square(256, 64)), h200());
  double read = 0;
  for (const StepPrediction& step : prediction.steps) read += step.hbm_read_bytes;
  EXPECT_EQ(read, 3 * 16 * 256 * 64 * 2) << "Q, K and V alone";
}

TEST(Predict, CausalSkipsTilesAboveTheDiagonal) {
  Case c = case_of("flash2", square(1024, 64));
  c.tile = {64, 64};
  set_launches(c, h200());
  const Model full = predict(c, h200());
  c.problem.mask = Mask::causal;
  set_launches(c, h200());
  const Model causal = predict(c, h200());
  const int64_t tiles = 16 * 17 / 2;  // of 64 x 64, diagonal included
  EXPECT_EQ(causal.tensor_flops, 16 * tiles * 4 * 64 * 64 * 64);
  EXPECT_LT(*causal.sm_bytes, *full.sm_bytes);
  EXPECT_LT(*causal.useful_flops, *causal.tensor_flops);
  EXPECT_EQ(*causal.half_square_flops * 2, *full.half_square_flops);
}

TEST(Predict, GroupedHeadsReadKAndVOnceFromHbm) {
  Problem p = square(2048, 128, 32);
  p.kv_heads = 4;
  const Model model = predict(case_of("flash2", p), h200());
  EXPECT_EQ(model.hbm_bytes, io_lower_bound_bytes(p));
  p.kv_heads = 32;
  EXPECT_EQ(predict(case_of("flash2", p), h200()).sm_bytes, model.sm_bytes)
      << "each query head's blocks still receive them";
}

TEST(Predict, WarmReadsNothingThatFits) {
  Case c = case_of("flash2", square(1024, 64));
  c.cache = CacheState::warm;
  EXPECT_EQ(predict(c, h200()).hbm_bytes, 16 * 1024 * 64 * 2) << "O alone";
  c.problem = square(32768, 64);
  set_launches(c, h200());
  Case cold = c;
  cold.cache = CacheState::cold;
  EXPECT_GT(static_cast<double>(*predict(c, h200()).hbm_bytes),
            0.9 * static_cast<double>(*predict(cold, h200()).hbm_bytes));
}

// Half of the sequences have a quarter of the keys.
std::vector<Problem> two_lengths(const Problem& p) {
  Problem whole = p, short_ones = p;
  whole.further = short_ones.further = 0;
  whole.batch = p.batch / 2, short_ones.batch = p.batch - whole.batch;
  short_ones.kv_len = p.kv_len / 4;
  return {whole, short_ones};
}

constexpr ProblemField ragged = {.name = "ragged",
                                 .description = "1: sequences of two lengths",
                                 .count = &Problem::further,
                                 .lowest = 0,
                                 .absent = "0",
                                 .parts = two_lengths};

TEST(Predict, SequencesOfUnequalLengthAreSummedPartByPart) {
  const FurtherField with(ragged);
  Case c = case_of("flash2", square(1024, 64, 2));
  c.problem.batch = 4, c.problem.further = 1;
  set_launches(c, h200());
  Model sum;
  sum.sm_bytes = sum.hbm_bytes = sum.tensor_flops = sum.useful_flops = sum.io_lower_bound_bytes = 0;
  for (const Problem& problem : two_lengths(c.problem)) {
    Case part = c;
    part.problem = problem;
    set_launches(part, h200());
    const Model model = predict(part, h200());
    *sum.sm_bytes += *model.sm_bytes, *sum.hbm_bytes += *model.hbm_bytes;
    *sum.tensor_flops += *model.tensor_flops;
    *sum.useful_flops += *model.useful_flops;
    *sum.io_lower_bound_bytes += *model.io_lower_bound_bytes;
  }
  const Model model = predict(c, h200());
  EXPECT_EQ(model.sm_bytes, sum.sm_bytes);
  EXPECT_EQ(model.hbm_bytes, sum.hbm_bytes);
  EXPECT_EQ(model.tensor_flops, sum.tensor_flops);
  EXPECT_EQ(model.useful_flops, sum.useful_flops);
  EXPECT_EQ(model.io_lower_bound_bytes, sum.io_lower_bound_bytes);
  EXPECT_EQ(model.useful_flops, 4 * 64 * 2 * 2 * 1024 * (1024 + 256));
  EXPECT_EQ(predict_steps(c, h200()).steps.at(0).ctas, 4 * 2 * 1024 / 128);
}

TEST(Predict, BlocksThatReadTheSameKMissOnce) {
  const Problem p = square(4096, 64, 1);
  const Prediction prediction = predict_launch(p, {200, [](int64_t, TileMachine& machine) {
                                                     for (int64_t row = 0; row < 4096; row += 64)
                                                       machine.read({operand_k, 0, row, 64, 0, 64});
                                                   }});
  EXPECT_EQ(prediction.steps[0].hbm_read_bytes, 4096 * 64 * 2);
  EXPECT_EQ(prediction.model.sm_bytes, 200 * 4096 * 64 * 2);
}

// One block after another, each with a working set of its own, would fit; at once they do not.
TEST(Predict, ResidentBlocksShareL2) {
  Problem p = square(4096, 64, 132);
  const auto twice = [](int64_t cta, TileMachine& machine) {
    for (int round = 0; round < 2; ++round)
      for (int64_t row = 0; row < 4096; row += 64) machine.read({operand_k, cta, row, 64, 0, 64});
  };
  const int64_t bytes = 4096 * 64 * 2;
  EXPECT_EQ(predict_launch(p, {132, twice}).steps[0].hbm_read_bytes, 132 * 2 * bytes);
  EXPECT_EQ(predict_launch(p, {16, twice}).steps[0].hbm_read_bytes, 16 * bytes);
}

TEST(Predict, ALibrarysTilesAreNotHeldAgainstCounters) {
  const Model model = predict(case_of("standard", square(512, 64)), h200());
  EXPECT_FALSE(model.sm_bytes);
  EXPECT_FALSE(model.tensor_flops);
  EXPECT_TRUE(model.hbm_bytes);
}

TEST(Predict, WithoutASchedulesBytesAreUnknown) {
  const Prediction prediction = predict_launch(square(64, 64), {});
  EXPECT_FALSE(prediction.scheduled);
  EXPECT_FALSE(prediction.model.hbm_bytes);
  EXPECT_TRUE(prediction.model.useful_flops);
}

// What a large case is cut down to must give what the whole gives.
void expect_alike(const Prediction& a, const Prediction& b, double share, const char* variant) {
  const auto near = [&](Count x, Count y, const char* what) {
    ASSERT_EQ(x.has_value(), y.has_value());
    if (!x) return;
    EXPECT_NEAR(static_cast<double>(*x), static_cast<double>(*y), share * static_cast<double>(*y))
        << variant << " " << what;
  };
  near(a.model.hbm_bytes, b.model.hbm_bytes, "hbm");
  near(a.model.sm_bytes, b.model.sm_bytes, "sm");
  near(a.model.intermediate_bytes, b.model.intermediate_bytes, "intermediate");
  near(a.model.tensor_flops, b.model.tensor_flops, "tensor");
}

TEST(Predict, SomeSlicesStandForAll) {
  const DeviceProfile& device = h200();
  for (const Variant* variant : all_variants())
    for (Mask mask : {Mask::full, Mask::causal})
      for (auto [n, batch] : {std::pair<int64_t, int64_t>{2048, 4}, {1000, 16}, {256, 128}, {512, 1}}) {
        Problem p = square(n, 64);
        p.batch = batch, p.mask = mask, p.kv_heads = 8;
        const Case c = case_of(variant->name.data(), p);
        const Prediction whole = predict_steps(c, device);
        expect_alike(predict_steps(c, device, {.accesses = 500, .chunks = 4'000'000}), whole, 0.01,
                     describe(c).c_str());
      }
}

TEST(Predict, CoarserChunksChangeTotalsLittle) {
  for (const Variant* variant : all_variants()) {
    Problem p = square(1024, 64);
    p.mask = Mask::causal;
    Case c = case_of(variant->name.data(), p);
    if (c.tile != Tile{}) c.tile = {32, 32};
    set_launches(c, h200());
    const Prediction fine = predict_steps(c, h200());
    expect_alike(predict_steps(c, h200(), {.accesses = 8'000'000, .chunks = 10'000}), fine, 0.02,
                 describe(c).c_str());
  }
}

// As many slices as run at once, for all: what is done where one after another would take too long.
TEST(Predict, AlikeWavesStandForAll) {
  for (Mask mask : {Mask::full, Mask::causal})
    for (CacheState cache : {CacheState::cold, CacheState::warm})
      for (auto [n, batch, kv_heads] : {std::tuple<int64_t, int64_t, int64_t>{512, 128, 16}, {640, 160, 8}}) {
        Problem p = square(n, 64);
        p.batch = batch, p.kv_heads = kv_heads, p.mask = mask;
        Case c = case_of("flash1", p);
        c.cache = cache;
        const Prediction waves = predict_steps(c, h200(), {.accesses = 500, .most_accesses = 50'000});
        ASSERT_FALSE(waves.not_simulated) << waves.not_simulated->why;
        const Prediction whole = predict_steps(c, h200());
        expect_alike(waves, whole, 0.02, describe(c).c_str());
        EXPECT_EQ(waves.model.sm_bytes, whole.model.sm_bytes);
        EXPECT_EQ(waves.model.tensor_flops, whole.model.tensor_flops);
        EXPECT_EQ(waves.steps[0].ctas, whole.steps[0].ctas);
      }
}

Prediction predict_within(const char* variant, const Problem& p, const PredictLimits& limits) {
  return predict_steps(case_of(variant, p), h200(), limits);
}

TEST(Predict, WhatIsTooLargeSaysHowLarge) {
  const Prediction large = predict_within("flash2", square(10'000'000, 64, 1), {});
  ASSERT_TRUE(large.not_simulated);
  EXPECT_FALSE(large.not_simulated->timed_out);
  // 78125 tiles of Q, each with 2 x 78125 of K and V.
  EXPECT_EQ(large.not_simulated->why,
            "its simulation is about 1.22e+10 tile accesses, 244 s of one core, and 1e+09 are the most that "
            "are tried; give smaller sizes or larger tiles, or measure it with --backend gpu");
  EXPECT_FALSE(large.model.hbm_bytes || large.model.sm_bytes);
  EXPECT_TRUE(large.model.useful_flops) << "what is known is kept";
  const Prediction memory = predict_within("flash2", square(4096, 64), {.host_bytes = 1e5});
  ASSERT_TRUE(memory.not_simulated);
  EXPECT_NE(memory.not_simulated->why.find("0.0001 GB are the most"), std::string::npos)
      << memory.not_simulated->why;
}

TEST(Predict, WhatTakesTooLongIsEnded) {
  const Prediction ended = predict_within("flash2", square(16384, 64), {.seconds = 1e-6});
  ASSERT_TRUE(ended.not_simulated);
  EXPECT_TRUE(ended.not_simulated->timed_out);
  EXPECT_EQ(ended.not_simulated->why,
            "its simulation took more than --case-timeout 1e-06 s of processor time and was ended");
  EXPECT_FALSE(ended.model.hbm_bytes);
}

// The last blocks are the longest where masks are causal, and blocks may be too long to be run for an
// estimate.
TEST(Predict, LongBlocksAreEstimatedFromAPart) {
  Problem p = square(1'000'000, 64, 1);
  const PredictLimits limits{.most_accesses = 100'000'000};
  const Prediction flash1 = predict_within("flash1", p, limits);
  ASSERT_TRUE(flash1.not_simulated);
  EXPECT_NE(flash1.not_simulated->why.find("about 8.5"), std::string::npos)
      << "one block of 15625 x 7813 x 7 accesses: " << flash1.not_simulated->why;
  p.mask = Mask::causal;
  EXPECT_TRUE(predict_within("flash1", p, limits).not_simulated);
}

// A release build takes a tenth of this; the bound holds for every build.
TEST(Predict, LongSequencesAreQuick) {
  for (const Variant* variant : all_variants()) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(predict(case_of(variant->name.data(), square(16384, 128)), h200()).hbm_bytes);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 10) << variant->name;
  }
}

}  // namespace
}  // namespace attnprof
