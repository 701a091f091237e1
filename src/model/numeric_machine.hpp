// A machine that also computes: operands are arrays on the host, and a schedule's arithmetic is carried out.
#pragma once

#include <vector>

#include "problem/inputs.hpp"
#include "problem/operands.hpp"
#include "schedule/step.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

class NumericMachine : public TileMachine {
 public:
  // Holds what memory holds: inputs rounded to their dtype (problem/inputs.hpp), of fp8 the elements, which a
  // schedule multiplies by their scale after reading both (schedule/fp8.hpp); outputs and workspace as their
  // Init says.
  NumericMachine(std::vector<Operand> operands, const InputSource& inputs);

  TileValues read(const Region& region) override;
  // Values are rounded to the operand's dtype, as a store does. Blocks of one launch write disjoint regions,
  // so they may run on several threads.
  void write(const Region& region, const TileValues& values) override;
  void execute(Unit, int64_t) override {}
  bool numeric() const override { return true; }

  void fill(const MemsetLaunch& memset);
  const Operand& operand(int index) const { return operands_[static_cast<size_t>(index)]; }
  // One row of one slice: `cols` values.
  const float* row(int operand, int64_t slice, int64_t row) const;

 private:
  std::vector<Operand> operands_;
  std::vector<std::vector<float>> values_;  // [slices, rows, row_pitch]
};

}  // namespace attnprof
