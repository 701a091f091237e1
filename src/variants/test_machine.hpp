// For tests: runs a variant's steps on plain arrays, or only counts, checking every region against its
// operand.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <string>

#include "problem/inputs.hpp"
#include "problem/rounding.hpp"
#include "schedule/variant.hpp"
#include "verify/reference.hpp"

namespace attnprof {

inline DeviceProfile test_device() {
  DeviceProfile device;
  device.name = "test";
  device.arch = "sm_90a";
  device.sms = 132;
  device.smem_per_sm_bytes = 233472;
  device.smem_per_block_bytes = 232448;
  return device;
}

// Bytes by operand name and executed operations.
struct Traffic {
  std::map<std::string, int64_t> read, written;
  std::array<int64_t, unit_count> executed = {};
  int64_t operations(Unit unit) const { return executed[static_cast<size_t>(unit)]; }
};

class TestMachine : public TileMachine {
 public:
  // With `numeric`, inputs are random and all else is NaN until written.
  TestMachine(std::vector<Operand> operands, bool numeric)
      : operands_(std::move(operands)), numeric_(numeric) {
    if (!numeric_) return;
    for (size_t i = 0; i < operands_.size(); ++i) fill(static_cast<unsigned>(i));
  }

  TileValues read(const Region& region) override {
    traffic.read[check(region).name] += bytes(region);
    if (!numeric_) return {};
    TileValues tile{region.rows, region.cols, {}};
    for (int64_t i = 0; i < region.rows; ++i) {
      const auto from = data_[static_cast<size_t>(region.operand)].begin() + offset(region, i);
      tile.values.insert(tile.values.end(), from, from + region.cols);
    }
    return tile;
  }

  void write(const Region& region, const TileValues& tile) override {
    const Operand& operand = check(region);
    traffic.written[operand.name] += bytes(region);
    if (!numeric_) return;
    ASSERT_EQ(tile.rows, region.rows) << operand.name;
    ASSERT_EQ(tile.cols, region.cols) << operand.name;
    for (int64_t i = 0; i < region.rows; ++i)
      for (int64_t c = 0; c < region.cols; ++c)
        data_[static_cast<size_t>(region.operand)][static_cast<size_t>(offset(region, i) + c)] =
            round_to(operand.dtype, tile.at(i, c));
  }

  void execute(Unit unit, int64_t operations) override {
    traffic.executed[static_cast<size_t>(unit)] += operations;
  }
  bool numeric() const override { return numeric_; }

  // All rows of one slice.
  std::span<const float> slice(int operand, int64_t index) const {
    const Operand& o = operands_[static_cast<size_t>(operand)];
    const auto size = static_cast<size_t>(o.rows * o.row_pitch);
    return std::span(data_[static_cast<size_t>(operand)]).subspan(static_cast<size_t>(index) * size, size);
  }

  Traffic traffic;

 private:
  void fill(unsigned index) {
    const Operand& operand = operands_[index];
    if (operand.init == Init::random || operand.init == Init::scale)
      data_.push_back(input_elements(operand, static_cast<int>(index), {}, 0, operand.elements()));
    else
      data_.emplace_back(static_cast<size_t>(operand.elements()),
                         operand.init == Init::zero ? 0 : std::numeric_limits<float>::quiet_NaN());
  }

  const Operand& check(const Region& r) const {
    const Operand& operand = operands_.at(static_cast<size_t>(r.operand));
    const bool inside = r.slice >= 0 && r.slice < operand.slices() && r.row >= 0 && r.rows > 0 &&
                        r.row + r.rows <= operand.rows && r.col >= 0 && r.cols > 0 &&
                        r.col + r.cols <= operand.cols;
    if (!inside) ADD_FAILURE() << "a region leaves " << operand.name;
    return operand;
  }

  int64_t bytes(const Region& r) const {
    return r.rows * r.cols * bytes_per_element(operands_[static_cast<size_t>(r.operand)].dtype);
  }

  int64_t offset(const Region& r, int64_t row) const {
    const Operand& o = operands_[static_cast<size_t>(r.operand)];
    return (r.slice * o.rows + r.row + row) * o.row_pitch + r.col;
  }

  std::vector<Operand> operands_;
  std::vector<std::vector<float>> data_;
  bool numeric_;
};

// Runs every step, blocks in launch order.
inline TestMachine run_variant(const Variant& variant, const Problem& problem, const Tile& tile,
                               bool numeric) {
  TestMachine machine(case_operands(variant, problem, tile), numeric);
  for (const Step& step : variant.steps(problem, tile, test_device()))
    for (int64_t cta = 0; cta < step.schedule.ctas; ++cta) step.schedule.run(cta, machine);
  return machine;
}

inline HeadScales head_scales(const TestMachine& machine, const Problem& p, int64_t slice, int64_t kv) {
  if (p.dtype != Dtype::fp8) return {};
  return {machine.slice(operand_q_scale, slice)[0], machine.slice(operand_k_scale, kv)[0],
          machine.slice(operand_v_scale, kv)[0]};
}

// Every output row against the fp64 reference.
inline Verification verify_against_reference(const TestMachine& machine, const Problem& p) {
  ErrorMeter meter(p.head_dim);
  const auto d = static_cast<size_t>(p.head_dim);
  for (const SampledRow& r : rows_to_verify(p, 1, true)) {
    const int64_t kv = r.slice / p.heads * p.kv_heads + r.slice % p.heads / p.group();
    const auto offset = static_cast<size_t>(r.row) * d;
    meter.add(reference_row(p, r.row, machine.slice(operand_q, r.slice).subspan(offset, d),
                            machine.slice(operand_k, kv), machine.slice(operand_v, kv),
                            head_scales(machine, p, r.slice, kv)),
              machine.slice(operand_o, r.slice).subspan(offset, d));
  }
  return meter.verdict(p.dtype);
}

}  // namespace attnprof
