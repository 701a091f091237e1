// naive's backward pass: numbers against the fp64 reference, bytes and reductions against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/device_profiles.hpp"
#include "plan/skip.hpp"
#include "problem/flops.hpp"
#include "variants/registry.hpp"
#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

Problem backward(int64_t q_len, int64_t kv_len, Mask mask = Mask::full, int64_t heads = 1,
                 int64_t kv_heads = 1, int64_t head_dim = 32) {
  return {.pass = Pass::backward,
          .dtype = Dtype::fp32,
          .mask = mask,
          .heads = heads,
          .kv_heads = kv_heads,
          .q_len = q_len,
          .kv_len = kv_len,
          .head_dim = head_dim};
}

const Variant& with_backward() { return *find_variant("naive"); }

void expect_right_gradients(const Problem& p, const Tile& tile) {
  SCOPED_TRACE(fmt::format("{} {} b{} h{}/{} q{} k{} {}x{}", to_string(p.dtype), to_string(p.mask), p.batch,
                           p.heads, p.kv_heads, p.q_len, p.kv_len, tile.br, tile.bc));
  EXPECT_EQ(with_backward().unsupported(p, tile, test_device()), std::nullopt);
  const Verification result = verify_against_reference(run_variant(with_backward(), p, tile, true), p);
  EXPECT_EQ(result.verified, "yes") << result.reason;
}

// Rows that see no key, keys that no query sees, tiles that do not divide, groups of heads.
TEST(NaiveBackward, EqualsTheReference) {
  for (const Mask mask : {Mask::full, Mask::causal}) {
    for (const auto& [q, k] : {std::pair<int64_t, int64_t>{1, 1}, {33, 70}, {70, 33}, {65, 65}})
      expect_right_gradients(backward(q, k, mask), {32, 32});
    expect_right_gradients(backward(40, 50, mask, 4, 2), {16, 48});
    Problem p = backward(40, 40, mask, 2, 1);
    p.batch = 2;
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      p.dtype = dtype;
      expect_right_gradients(p, {32, 32});
    }
  }
}

// A gradient is of the values that its inputs have: a finite difference of the forward reference.
class Changed : public OperandValues {
 public:
  explicit Changed(const TestMachine& machine) : machine_(machine) {}
  void change(OperandId id, int64_t row, int64_t col, float by) {
    id_ = id, row_ = row, col_ = col, by_ = by;
  }

  std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const override {
    const auto given = machine_.rows(id, slice, row, rows);
    if (id != id_ || row_ < row || row_ >= row + rows) return given;
    copy_.assign(given.begin(), given.end());
    copy_[static_cast<size_t>((row_ - row)) * (given.size() / static_cast<size_t>(rows)) +
          static_cast<size_t>(col_)] += by_;
    return copy_;
  }

 private:
  const TestMachine& machine_;
  OperandId id_ = operand_ids;
  int64_t row_ = 0, col_ = 0;
  float by_ = 0;
  mutable std::vector<float> copy_;
};

TEST(BackwardReference, IsTheSlopeOfTheForwardReference) {
  for (const Mask mask : {Mask::full, Mask::causal}) {
    const Problem p = backward(5, 7, mask, 1, 1, 16);
    const TestMachine machine(case_operands(with_backward(), p, {16, 16}), true);
    Problem forward = p;
    forward.pass = Pass::forward;
    Changed values(machine);
    const auto loss = [&] {
      double sum = 0;
      const auto reference = make_reference(forward, values);
      for (int64_t row = 0; row < p.q_len; ++row) {
        const std::vector<double> o = reference->row(operand_o, 0, row);
        const auto d_o = machine.rows(operand_d_o, 0, row, 1);
        for (size_t c = 0; c < o.size(); ++c) sum += o[c] * d_o[c];
      }
      return sum;
    };
    const auto reference = make_reference(p, machine);
    for (const auto& [gradient, of] :
         {std::pair{operand_d_q, operand_q}, {operand_d_k, operand_k}, {operand_d_v, operand_v}})
      for (const int64_t row : {0, 3, 4})
        for (const int64_t col : {0, 9}) {
          constexpr float step = 1.0f / 1024;
          values.change(of, row, col, step);
          const double above = loss();
          values.change(of, row, col, -step);
          const double slope = (above - loss()) / (2 * step);
          values.change(operand_ids, 0, 0, 0);
          EXPECT_NEAR(reference->row(gradient, 0, row)[static_cast<size_t>(col)], slope, 1e-4)
              << of << " " << row << " " << col;
        }
  }
}

TEST(NaiveBackward, TheDefaultTileFitsEveryTarget) {
  for (const DeviceProfile& device : all_profiles())
    for (const int64_t head_dim : {64, 128, 256}) {
      Case c;
      c.variant = &with_backward();
      c.problem = backward(512, 512, Mask::full, 2, 1, head_dim);
      c.tile = c.variant->default_tile(c.problem, device).tile;
      set_launches(c, device);
      EXPECT_EQ(skip_reason(c, device, device.hbm_bytes), std::nullopt) << device.name << " " << head_dim;
    }
}

TEST(NaiveBackward, AddsToDQOnceATileOfKeysThatSeesIt) {
  const Problem p = backward(128, 128, Mask::causal);
  const OperandList ops = case_operands(with_backward(), p, {32, 32});
  TestMachine machine(ops, false);
  int timed = 0;
  for (const Step& step : with_backward().steps(p, {32, 32}, test_device())) {
    timed += step.timed;
    EXPECT_EQ(step.schedule.reduces, step.name == "backward");
    for (int64_t cta = 0; step.timed && cta < step.schedule.ctas; ++cta) step.schedule.run(cta, machine);
  }
  EXPECT_EQ(timed, 3) << "delta, backward, convert";
  constexpr int64_t tensor = 128 * 32 * 4, tiles = 4 + 3 + 2 + 1;
  EXPECT_EQ(machine.traffic.reduced["dQ_fp32"], tiles * 32 * 32 * 4);
  EXPECT_EQ(machine.traffic.read["K"], tensor);
  EXPECT_EQ(machine.traffic.read["Q"], tiles * 32 * 32 * 4);
  EXPECT_EQ(machine.traffic.written["dQ"], tensor);
  EXPECT_EQ(machine.traffic.operations(Unit::fma), tiles * 10 * 32 * 32 * 32);
  EXPECT_EQ(useful_flops(p), 10 * 32 * (128 * 129 / 2));
  // dO, O and dQ are like Q, two gradients like K; LSE is a float a query.
  EXPECT_EQ(io_lower_bound_bytes(p), 8 * tensor + 128 * 4);
}

}  // namespace
}  // namespace attnprof
