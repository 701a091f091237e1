// FP8 end to end on the host: operands with scales, V^T, P in e4m3, the reference and the model; on a small
// flash schedule of this test's own, as flash3's kernel computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/device_profiles.hpp"
#include "lib/flash3_layout.h"
#include "measure/sim/backend.hpp"
#include "run/pipeline.hpp"
#include "schedule/fp8.hpp"
#include "schedule/online_softmax.hpp"
#include "schedule/tiling.hpp"
#include "variants/flash3_prepare.hpp"
#include "variants/registry.hpp"
#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

Problem fp8_problem(Mask mask = Mask::full) {
  return {.dtype = Dtype::fp8,
          .mask = mask,
          .batch = 2,
          .heads = 4,
          .kv_heads = 2,
          .q_len = 70,
          .kv_len = 333,
          .head_dim = 64};
}

std::vector<Operand> only_vt(const Problem& p, const Tile&) { return {transposed_v(p)}; }

void attend(const Problem& p, const Tile& tile, int64_t cta, TileMachine& machine) {
  const OperandList ops = operands(p);
  const int64_t q_tiles = ceil_div(p.q_len, tile.br);
  const int64_t slice = cta / q_tiles, row = cta % q_tiles * tile.br, kv = kv_slice(p, slice);
  const float q_scale = read_scale(p, operand_q_scale, slice, machine);
  const float k_scale = read_scale(p, operand_k_scale, kv, machine);
  const float v_scale = read_scale(p, operand_v_scale, kv, machine);
  const Region o = row_tile(ops[operand_o], slice, row, tile.br);
  const TileValues q = dequantised(machine.read(row_tile(ops[operand_q], slice, row, tile.br)), q_scale);
  OnlineSoftmax state(machine.numeric() ? o.rows : 0, p.head_dim);
  key_tiles(p, slice, row, tile.br, tile.bc).for_each([&](int64_t j) {
    const int64_t key = j * tile.bc;
    const Region k_region = row_tile(ops[operand_k], kv, key, tile.bc);
    const TileValues k = dequantised(machine.read(k_region), k_scale);
    const TileValues v =
        dequantised(read_transposed_v(p, operand_workspace, kv, key, tile.bc, machine), v_scale);
    machine.execute(Unit::tensor, 4 * int64_t{tile.br} * tile.bc * p.head_dim);
    if (machine.numeric()) state.add_tile(p, q, {slice, row}, k, v, key);
  });
  machine.write(o, state.normalised());
}

std::vector<Step> fp8_steps(const Problem& p, const Tile& tile, const DeviceProfile&) {
  Schedule schedule{ceil_div(p.q_len, tile.br) * p.heads * p.batch,
                    [p, tile](int64_t cta, TileMachine& machine) { attend(p, tile, cta, machine); }};
  KernelLaunch kernel;
  kernel.threads = 128;
  return {transpose_v_step(p, operand_workspace, false), Step{"attention", kernel, schedule}};
}

// A variant of this test alone.
Variant fp8_variant() {
  return {.name = "fp8_test",
          .idea = "",
          .needs = "",
          .unsupported = [](const Problem&, const Tile&,
                            const DeviceProfile&) { return std::optional<std::string>(); },
          .default_tile =
              [](const Problem&, const DeviceProfile&) {
                return TileChoice{{64, 64}, ""};
              },
          .workspace = only_vt,
          .steps = fp8_steps};
}

struct Rows : SweepObserver {
  std::vector<Row> rows;
  void end_case(const Row& row) override { rows.push_back(row); }
};

Row simulated(const Problem& p, InputKind input = InputKind::normal) {
  const Variant variant = fp8_variant();
  Case c;
  c.variant = &variant, c.problem = p, c.tile = {64, 64};
  set_launches(c, *find_profile("h200"));
  MeasureOptions options;
  options.verify = VerifyMode::full, options.input = input;
  Rows rows;
  const auto backend = make_sim_backend(*find_profile("h200"), options);
  run_sweep({c}, *backend, {.provenance = {}, .options = options, .observers = {&rows}});
  return rows.rows.at(0);
}

double fp8_tolerance() { return pass_spec(Pass::forward).outputs.front().tolerance(Dtype::fp8); }

TEST(Fp8, StaysWithinItsToleranceWithOutliersToo) {
  for (Mask mask : {Mask::full, Mask::causal})
    for (InputKind input : {InputKind::normal, InputKind::outliers}) {
      const Row row = simulated(fp8_problem(mask), input);
      EXPECT_EQ(row.status.disposition, "ok") << row.status.reason;
      EXPECT_EQ(row.verify.verified, "yes");
      EXPECT_LT(*row.verify.rel_err, fp8_tolerance());
      EXPECT_GT(*row.verify.rel_err, fp8_tolerance() / 10) << "e4m3 P leaves a trace";
    }
}

// What a machine holds, but every head has the first one's scale of one tensor.
class OneScaleForAll : public OperandValues {
 public:
  OneScaleForAll(const TestMachine& machine, OperandId wrong) : machine_(machine), wrong_(wrong) {}
  std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const override {
    return machine_.rows(id, id == wrong_ ? 0 : slice, row, rows);
  }

 private:
  const TestMachine& machine_;
  OperandId wrong_;
};

// A head's scale taken from its neighbour is off by more than the tolerance.
TEST(Fp8, AWrongScaleShows) {
  const Problem p = fp8_problem();
  const TestMachine machine = run_variant(fp8_variant(), p, {64, 64}, true);
  EXPECT_EQ(verify_against_reference(machine, p).verified, "yes");
  for (const OperandId wrong : {operand_q_scale, operand_k_scale, operand_v_scale})
    EXPECT_EQ(compare_on_host(p, OneScaleForAll(machine, wrong), 1, true).verified, "no") << wrong;
}

TEST(Fp8, IsHeldAgainstTheFp8Peak) {
  const Row row = simulated(fp8_problem());
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 100 * *row.roofline.useful_tflops_per_s / 1979);
}

// Preparation is no part of the operation.
TEST(Fp8, TheModelCountsScalesAndVtOfTheTimedStepAlone) {
  const Problem p = fp8_problem();
  const Row row = simulated(p);
  EXPECT_EQ(row.build.launches, 1);
  const int64_t pitch = transposed_v(p).row_pitch, heads = p.batch * p.heads, kv_heads = p.batch * p.kv_heads;
  EXPECT_EQ(row.build.workspace_bytes, kv_heads * 64 * pitch);
  const int64_t blocks = 2 * heads, scales = 3 * 32;
  // V^T comes in boxes of 64 keys: 384 of them, the last beyond its pitch.
  EXPECT_EQ(*row.model.sm_bytes, blocks * (333 * 64 + 64 * 384 + scales) + heads * 70 * 64 * (1 + 2));
  EXPECT_EQ(*row.model.io_lower_bound_bytes,
            heads * 70 * 64 * 3 + 2 * kv_heads * 333 * 64 + 4 * (heads + 2 * kv_heads));
}

TEST(Fp8, OtherVariantsSayWhoTakesIt) {
  const DeviceProfile& device = *find_profile("h200");
  Problem p = fp8_problem();
  for (const char* name : {"naive", "standard", "flash1", "flash2"}) {
    const Variant& variant = *find_variant(name);
    const auto reason = variant.unsupported(p, variant.default_tile(p, device).tile, device);
    ASSERT_TRUE(reason) << name;
    EXPECT_THAT(*reason, testing::StartsWith(std::string(name) + " takes fp"));
    EXPECT_THAT(*reason, HasSubstr("not fp8; flash3 does"));
  }
}

TEST(TransposeV, ColumnsOfAGroupArePermuted) {
  std::set<int> columns;
  for (int key = 0; key < v_column_group; ++key) {
    columns.insert(v_column(key));
    EXPECT_EQ(v_key(v_column(key)), key);
    EXPECT_EQ(v_column(key + 3 * v_column_group), v_column(key) + 3 * v_column_group);
  }
  EXPECT_EQ(columns.size(), static_cast<size_t>(v_column_group));
  EXPECT_EQ(*columns.rbegin(), v_column_group - 1);
}

TEST(TransposeV, EveryKeyIsAColumnAndTheRestIsZero) {
  for (int64_t kv_len : {int64_t{1}, int64_t{31}, int64_t{128}, int64_t{333}}) {
    Problem p = fp8_problem();
    p.kv_len = kv_len, p.head_dim = 96;
    const TestMachine machine = run_variant(fp8_variant(), p, {64, 64}, true);
    const Operand vt = transposed_v(p);
    EXPECT_EQ(vt.row_pitch % 32, 0);
    for (int64_t slice = 0; slice < vt.slices(); ++slice)
      for (int64_t c = 0; c < p.head_dim; ++c)
        for (int64_t column = 0; column < vt.row_pitch; ++column) {
          const int64_t key = v_key(static_cast<int>(column));
          const float expected =
              key < kv_len ? machine.slice(operand_v, slice)[static_cast<size_t>(key * p.head_dim + c)] : 0;
          ASSERT_EQ(machine.slice(operand_workspace, slice)[static_cast<size_t>(c * vt.row_pitch + column)],
                    expected)
              << kv_len << " " << slice << " " << c << " " << column;
        }
  }
}

TEST(TransposeV, ReadsAndWritesEachByteOnce) {
  const Problem p = fp8_problem();
  for (bool timed : {false, true}) {
    const Step step = transpose_v_step(p, operand_workspace, timed);
    EXPECT_EQ(step.timed, timed);
    EXPECT_TRUE(step.schedule.exact);
    TestMachine machine(case_operands(fp8_variant(), p, {64, 64}), false);
    for (int64_t cta = 0; cta < step.schedule.ctas; ++cta) step.schedule.run(cta, machine);
    EXPECT_EQ(machine.traffic.read, (std::map<std::string, int64_t>{{"V", 4 * 333 * 64}}));
    EXPECT_EQ(machine.traffic.written, (std::map<std::string, int64_t>{{"V_T", 4 * 352 * 64}}));
  }
}

}  // namespace
}  // namespace attnprof
