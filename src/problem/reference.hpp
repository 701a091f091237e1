// What a pass must compute, in fp64 on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "problem/operands.hpp"
#include "problem/problem.hpp"

namespace attnprof {

// Inputs as a reference reads them: as stored, of fp8 not yet multiplied by the scale.
class OperandValues {
 public:
  virtual ~OperandValues() = default;
  // Rows [row, row + rows) of one slice, row-major, row_pitch elements each. Valid until the next call for
  // another slice of the same operand.
  virtual std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const = 0;
};

// One problem's outputs. It may keep what several rows need, so rows of one slice are best asked for
// together.
class Reference {
 public:
  virtual ~Reference() = default;
  // One row of one slice of an output of the pass: `cols` values.
  virtual std::vector<double> row(OperandId output, int64_t slice, int64_t row) = 0;
};

// Of the problem's pass. `values` must outlive it.
std::unique_ptr<Reference> make_reference(const Problem& problem, const OperandValues& values);

}  // namespace attnprof
