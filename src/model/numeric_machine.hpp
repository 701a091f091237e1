// A machine that also computes: operands are arrays on the host, and a schedule's arithmetic is carried out.
#pragma once

#include <vector>

#include "problem/inputs.hpp"
#include "problem/operands.hpp"
#include "problem/reference.hpp"
#include "schedule/step.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

class NumericMachine : public TileMachine, public OperandValues {
 public:
  // Holds what memory holds: inputs rounded to their dtype (problem/inputs.hpp), of fp8 the elements, which a
  // schedule multiplies by their scale after reading both (schedule/fp8.hpp); outputs and workspace as their
  // Init says.
  NumericMachine(OperandList operands, const InputSource& inputs);

  TileValues read(const Region& region) override;
  // Values are rounded to the operand's dtype, as a store does. Blocks of one launch write disjoint regions,
  // so they may run on several threads.
  void write(const Region& region, const TileValues& values) override;
  // Blocks of one launch may add to the same region, so they must run one after another.
  void add(const Region& region, const TileValues& values) override;
  void execute(Unit, int64_t) override {}
  bool numeric() const override { return true; }

  void fill(const MemsetLaunch& memset);
  const Operand& operand(OperandId id) const { return operands_[id]; }
  std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const override;

 private:
  template <typename Combine>
  void put(const Region& region, const TileValues& tile, Combine combine);
  const float* row(OperandId id, int64_t slice, int64_t row) const;

  OperandList operands_;
  std::vector<std::vector<float>> values_;  // in the order of operands_, [slices, rows, row_pitch]
};

}  // namespace attnprof
