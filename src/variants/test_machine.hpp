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
#include "verify/compare.hpp"

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
  std::map<std::string, int64_t> read, written, reduced;
  std::array<int64_t, unit_count> executed = {};
  int64_t operations(Unit unit) const { return executed[static_cast<size_t>(unit)]; }
};

class TestMachine : public TileMachine, public OperandValues {
 public:
  // With `numeric`, inputs are random and all else is NaN until written.
  TestMachine(OperandList operands, bool numeric) : operands_(std::move(operands)), numeric_(numeric) {
    if (!numeric_) return;
    for (const Operand& operand : operands_) fill(operand);
  }

  TileValues read(const Region& region) override {
    traffic.read[check(region).name] += bytes(region);
    if (!numeric_) return {};
    TileValues tile{region.rows, region.cols, {}};
    for (int64_t i = 0; i < region.rows; ++i) {
      const auto from = data_[operands_.place(region.operand)].begin() + offset(region, i);
      tile.values.insert(tile.values.end(), from, from + region.cols);
    }
    return tile;
  }

  void write(const Region& region, const TileValues& tile) override {
    traffic.written[check(region).name] += bytes(region);
    put(region, tile, [](float, float value) { return value; });
  }

  void add(const Region& region, const TileValues& tile) override {
    traffic.reduced[check(region).name] += bytes(region);
    put(region, tile, [](float before, float value) { return before + value; });
  }

  void execute(Unit unit, int64_t operations) override {
    traffic.executed[static_cast<size_t>(unit)] += operations;
  }
  bool numeric() const override { return numeric_; }

  // All rows of one slice.
  std::span<const float> slice(OperandId id, int64_t index) const {
    return rows(id, index, 0, operands_[id].rows);
  }
  std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const override {
    const Operand& o = operands_[id];
    return std::span(data_[operands_.place(id)])
        .subspan(static_cast<size_t>((slice * o.rows + row) * o.row_pitch),
                 static_cast<size_t>(rows * o.row_pitch));
  }

  Traffic traffic;

 private:
  template <typename Combine>
  void put(const Region& region, const TileValues& tile, Combine combine) {
    if (!numeric_) return;
    const Operand& operand = operands_[region.operand];
    ASSERT_EQ(tile.rows, region.rows) << operand.name;
    ASSERT_EQ(tile.cols, region.cols) << operand.name;
    for (int64_t i = 0; i < region.rows; ++i)
      for (int64_t c = 0; c < region.cols; ++c) {
        float& element = data_[operands_.place(region.operand)][static_cast<size_t>(offset(region, i) + c)];
        element = round_to(operand.dtype, combine(element, tile.at(i, c)));
      }
  }

  void fill(const Operand& operand) {
    if (operand.init == Init::random || operand.init == Init::scale)
      data_.push_back(input_elements(operand, {}, 0, operand.elements()));
    else
      data_.emplace_back(static_cast<size_t>(operand.elements()),
                         operand.init == Init::zero ? 0 : std::numeric_limits<float>::quiet_NaN());
  }

  const Operand& check(const Region& r) const {
    const Operand& operand = operands_[r.operand];
    const bool inside = r.slice >= 0 && r.slice < operand.slices() && r.row >= 0 && r.rows > 0 &&
                        r.row + r.rows <= operand.rows && r.col >= 0 && r.cols > 0 &&
                        r.col + r.cols <= operand.cols;
    if (!inside) ADD_FAILURE() << "a region leaves " << operand.name;
    return operand;
  }

  int64_t bytes(const Region& r) const {
    return r.rows * r.cols * bytes_per_element(operands_[r.operand].dtype);
  }

  int64_t offset(const Region& r, int64_t row) const {
    const Operand& o = operands_[r.operand];
    return (r.slice * o.rows + r.row + row) * o.row_pitch + r.col;
  }

  OperandList operands_;
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

// Every row of every output against the fp64 reference.
inline Verification verify_against_reference(const TestMachine& machine, const Problem& p) {
  return compare_on_host(p, machine, 1, true);
}

}  // namespace attnprof
