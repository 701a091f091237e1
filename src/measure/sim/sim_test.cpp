// The simulator end to end, through the pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/device_profiles.hpp"
#include "files/env_id.hpp"
#include "measure/sim/backend.hpp"
#include "model/predict.hpp"
#include "plan/seed.hpp"
#include "row/schema.hpp"
#include "run/pipeline.hpp"
#include "schedule/occupancy.hpp"
#include "schedule/tiling.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

Case case_of(const Variant& variant, const Problem& p) {
  Case c;
  c.variant = &variant;
  c.problem = p;
  c.tile = variant.default_tile(p, h200()).tile;
  set_launches(c, h200());
  return c;
}

struct Rows : SweepObserver {
  std::vector<Row> rows;
  void end_case(const Row& row) override { rows.push_back(row); }
};

std::vector<Row> sweep(const std::vector<Case>& cases, const MeasureOptions& options = {},
                       const DeviceProfile& device = h200()) {
  Rows rows;
  const auto backend = make_sim_backend(device, options);
  run_sweep(cases, *backend, {.provenance = {}, .options = options, .observers = {&rows}});
  return rows.rows;
}

std::vector<Problem> small_problems() {
  std::vector<Problem> problems;
  for (Mask mask : {Mask::full, Mask::causal})
    for (auto [q, k] : {std::pair<int64_t, int64_t>{128, 128}, {1, 129}, {129, 1}, {100, 260}}) {
      Problem p;
      p.mask = mask, p.q_len = q, p.kv_len = k, p.batch = 2, p.heads = 4, p.kv_heads = 2;
      for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8}) {
        p.dtype = dtype;
        problems.push_back(p);
      }
    }
  return problems;
}

TEST(Sim, EveryVariantIsVerified) {
  MeasureOptions options;
  options.verify = VerifyMode::full;
  std::vector<Case> cases;
  for (const Variant* variant : all_variants())
    for (const Problem& p : small_problems()) {
      const Case c = case_of(*variant, p);
      if (!variant->unsupported(p, c.tile, h200())) cases.push_back(c);
    }
  const std::vector<Row> rows = sweep(cases, options);
  ASSERT_EQ(rows.size(), cases.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].status.disposition, "ok") << describe(cases[i]) << ": " << rows[i].status.reason;
    EXPECT_EQ(rows[i].verify.verified, "yes") << describe(cases[i]);
    // Rounding leaves a trace, except where O is a single row of V.
    if (cases[i].problem.kv_len > 1) {
      EXPECT_GT(rows[i].verify.rel_err.value_or(0), 0) << describe(cases[i]);
    }
  }
}

TEST(Sim, EveryVariantIsVerifiedOnOutliers) {
  MeasureOptions options;
  options.verify = VerifyMode::full, options.input = InputKind::outliers;
  std::vector<Case> cases;
  for (const Variant* variant : all_variants())
    for (const Problem& p : small_problems()) {
      const Case c = case_of(*variant, p);
      if (p.q_len > 1 && p.kv_len > 1 && !variant->unsupported(p, c.tile, h200())) cases.push_back(c);
    }
  EXPECT_GT(cases.size(), all_variants().size());
  const std::vector<Row> rows = sweep(cases, options);
  options.input = InputKind::normal;
  const std::vector<Row> normal = sweep(cases, options);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].verify.verified, "yes") << describe(cases[i]);
    EXPECT_NE(rows[i].verify.rel_err, normal[i].verify.rel_err) << describe(cases[i]) << ": the same inputs";
  }
}

TEST(Sim, EdgeTilesAreVerified) {
  std::vector<Case> cases;
  Problem p;
  p.q_len = 129, p.kv_len = 145, p.heads = 2, p.kv_heads = 1, p.head_dim = 48, p.mask = Mask::causal;
  for (const Variant* variant : all_variants())
    for (Tile tile : {Tile{16, 16}, {32, 128}, {128, 32}, {112, 80}, {}}) {
      Case c = case_of(*variant, p);
      c.tile = tile;
      if ((tile.br > 0) != (variant->default_tile(p, h200()).tile.br > 0)) continue;
      if (variant->unsupported(p, c.tile, h200())) continue;
      set_launches(c, h200());
      cases.push_back(c);
    }
  EXPECT_GT(cases.size(), all_variants().size());
  const std::vector<Row> rows = sweep(cases);
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_TRUE(rows[i].verify.verified == "yes" || rows[i].status.disposition == "skipped")
        << describe(cases[i]) << " " << rows[i].status.reason;
}

TEST(Sim, MeasuredAndModelBytesAgreeByConstruction) {
  Problem p;
  p.q_len = p.kv_len = 512;
  for (const Variant* variant : all_variants()) {
    const Row row = sweep({case_of(*variant, p)}).at(0);
    EXPECT_EQ(row.counters.bytes_source, "sim");
    EXPECT_EQ(row.counters.hbm_total, row.model.hbm_bytes);
    EXPECT_EQ(*row.counters.hbm_read + *row.counters.hbm_write, *row.counters.hbm_total);
    EXPECT_LE(*row.counters.hbm_write_in_kernel, *row.counters.hbm_write);
    ASSERT_TRUE(row.counters.sm_total) << "from the assumed tiles where they are a library's";
    if (row.model.sm_bytes) {
      EXPECT_EQ(row.counters.sm_total, row.model.sm_bytes);
    }
    EXPECT_EQ(row.latency.latency_source, "model");
    EXPECT_GT(*row.latency.median_ns, 0);
    EXPECT_FALSE(row.latency.samples || row.latency.ci95_low_ns || row.build.registers);
    EXPECT_FALSE(row.roofline.bound.empty());
    EXPECT_LE(*row.roofline.roof_pct, 100);
    EXPECT_EQ(row.status.flags, "");
  }
}

TEST(Sim, TheLaunchIsDescribed) {
  Problem p;
  p.q_len = p.kv_len = 1024;
  const Case c = case_of(*find_variant("flash2"), p);
  const Row row = sweep({c}).at(0);
  const Step step = c.variant->steps(p, c.tile, h200()).at(0);
  const auto& kernel = std::get<KernelLaunch>(step.launch);
  const int resident = resident_ctas_per_sm(block_needs(step, h200()), h200());
  EXPECT_EQ(row.build.launches, 1);
  EXPECT_EQ(row.build.ctas, step.schedule.ctas);
  EXPECT_EQ(row.build.threads_per_cta, kernel.threads);
  EXPECT_EQ(row.build.smem_bytes, kernel.smem_bytes);
  EXPECT_DOUBLE_EQ(*row.build.theoretical_occupancy_pct, 100.0 * resident * kernel.threads / 2048);
  EXPECT_DOUBLE_EQ(*row.build.waves, static_cast<double>(step.schedule.ctas) / (132.0 * resident));
  EXPECT_EQ(row.build.workspace_bytes, 0);
  const Row naive = sweep({case_of(*find_variant("naive"), p)}).at(0);
  EXPECT_EQ(naive.build.launches, 3);
  EXPECT_EQ(naive.build.workspace_bytes, 2 * 16 * 1024 * 1024 * 2);
}

TEST(Sim, ALibrarysLaunchIsItsOwn) {
  Problem p;
  p.q_len = p.kv_len = 1024, p.head_dim = 256;  // the products take longer than the softmax
  Row row = sweep({case_of(*find_variant("standard"), p)}).at(0);
  EXPECT_EQ(row.build.launches, 3);
  EXPECT_FALSE(row.build.ctas || row.build.threads_per_cta || row.build.smem_bytes || row.build.waves);
  EXPECT_EQ(row.counters.executed_tensor_flops, int64_t{4} * 1024 * 1024 * 256 * 16);
}

TEST(Sim, LargeProblemsAreCountedButUnchecked) {
  Problem p;
  p.q_len = p.kv_len = 1024, p.head_dim = 256;
  Row row = sweep({case_of(*find_variant("flash2"), p)}).at(0);
  EXPECT_EQ(row.verify.verified, "unchecked");
  EXPECT_EQ(row.status.disposition, "ok");
  EXPECT_TRUE(row.counters.hbm_total);
  MeasureOptions options;
  options.verify = VerifyMode::off;
  options.counters = CounterMode::off;
  p.q_len = p.kv_len = 64;
  row = sweep({case_of(*find_variant("flash2"), p)}, options).at(0);
  EXPECT_EQ(row.verify.verified, "unchecked");
  EXPECT_EQ(row.counters.bytes_source, "none");
  EXPECT_FALSE(row.counters.hbm_total || row.roofline.hbm_intensity);
  EXPECT_TRUE(row.model.hbm_bytes);
}

TEST(Sim, WhatDoesNotFitIsSkippedWithTheNumbers) {
  Problem p;
  p.q_len = p.kv_len = 65536, p.heads = p.kv_heads = 32;
  Case naive = case_of(*find_variant("naive"), p);
  const Row memory = sweep({naive}).at(0);
  EXPECT_EQ(memory.status.disposition, "skipped");
  EXPECT_THAT(memory.status.reason, HasSubstr("141000000000"));
  EXPECT_TRUE(memory.model.io_lower_bound_bytes) << "what is known is kept";
  EXPECT_FALSE(memory.latency.median_ns);
  p.q_len = p.kv_len = 512, p.head_dim = 256;
  Case wide = case_of(*find_variant("flash2"), p);
  wide.tile = {128, 64};
  set_launches(wide, *find_profile("rtx4090"));
  const Row smem = sweep({wide}, {}, *find_profile("rtx4090")).at(0);
  EXPECT_EQ(smem.status.disposition, "skipped");
  EXPECT_THAT(smem.status.reason, HasSubstr("101376"));
}

// A schedule that forgets its last K, V tile.
std::vector<Step> forgetful_steps(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  Problem shorter = p;
  shorter.kv_len -= tile.bc;
  std::vector<Step> steps = find_variant("flash2")->steps(p, tile, device);
  steps[0].schedule.run = find_variant("flash2")->steps(shorter, tile, device)[0].schedule.run;
  return steps;
}

TEST(Sim, AWrongScheduleIsIncorrectAndGetsNoSpeed) {
  Variant forgetful = *find_variant("flash2");
  forgetful.name = "forgetful";
  forgetful.steps = forgetful_steps;
  Problem p;
  p.q_len = 128, p.kv_len = 256, p.heads = p.kv_heads = 1;
  const Row row = sweep({case_of(forgetful, p)}).at(0);
  EXPECT_EQ(row.status.disposition, "incorrect");
  EXPECT_FALSE(row.latency.median_ns || row.counters.hbm_total);
}

TEST(Sim, AnUncalibratedTargetIsLabelled) {
  Problem p;
  p.q_len = p.kv_len = 256;
  const DeviceProfile& a100 = *find_profile("a100-sxm-80g");
  EXPECT_EQ(sweep({case_of(*find_variant("flash2"), p)}, {}, a100).at(0).status.flags, "uncalibrated");
  EXPECT_THAT(make_sim_backend(a100, {})->info().notices, testing::ElementsAre(HasSubstr("not calibrated")));
  EXPECT_TRUE(make_sim_backend(h200(), {})->info().notices.empty());
}

// A profile of one's own can keep its name while its figures change.
TEST(Sim, RowsOfOtherFiguresAreNotComparable) {
  DeviceProfile faster = h200();
  faster.hbm_gbps *= 2;
  const auto id = [](const DeviceProfile& device) { return env_id(make_sim_backend(device, {})->info()); };
  EXPECT_NE(id(h200()), id(faster));
  EXPECT_EQ(id(h200()), id(h200()));
}

// Those of normal inputs keep the env_id that they had before there were others.
TEST(Sim, RowsOfOtherInputsAreNotComparable) {
  const auto info = [](InputKind input) {
    MeasureOptions options;
    options.input = input;
    return make_sim_backend(h200(), options)->info();
  };
  EXPECT_NE(env_id(info(InputKind::normal)), env_id(info(InputKind::outliers)));
  EXPECT_EQ(std::ranges::count(info(InputKind::normal).comparable, "input"), 0);
  EXPECT_EQ(std::ranges::count(info(InputKind::outliers).comparable, "input"), 1);
}

TEST(CaseSeed, DiffersByCaseAndSweepSeedAndNothingElse) {
  Problem p;
  p.q_len = p.kv_len = 64;
  const Case c = case_of(*find_variant("flash2"), p);
  EXPECT_EQ(case_seed(c, 1), case_seed(c, 1));
  EXPECT_NE(case_seed(c, 1), case_seed(c, 2));
  EXPECT_NE(case_seed(c, 1), case_seed(case_of(*find_variant("naive"), p), 1));
  p.batch = 2;
  EXPECT_NE(case_seed(c, 1), case_seed(case_of(*find_variant("flash2"), p), 1));
}

}  // namespace
}  // namespace attnprof
