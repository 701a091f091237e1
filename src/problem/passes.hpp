// The passes of attention: what each reads, which products it takes, what it leaves and how that is checked.
// To add one: src/README.md.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/operands.hpp"
#include "problem/problem.hpp"
#include "problem/reference.hpp"

namespace attnprof {

enum class Axis { query, key };  // what the rows of an output are

struct PassOutput {
  OperandId operand;
  Axis axis;
  // Largest relative Frobenius error of a right kernel, against the values that elements of the inputs stand
  // for.
  double (*tolerance)(Dtype);
  // Some of its rows are right to be near zero, while what they are the difference of is rounded: a row is
  // then held against the mean row, too (ErrorMeter).
  bool rows_may_vanish = false;
};

// Kernels of kernels/lib/reference.cuh that give the reference's rows on a GPU.
struct DeviceReference {
  std::string_view rows;          // the sampled rows of one output; empty: there is none
  std::string_view prepare = {};  // run once before, fills the scratch; empty: nothing to prepare
  int64_t (*scratch_values)(const Problem&) = nullptr;  // doubles, with `prepare`; null: neither
};

struct PassSpec {
  std::string_view name;  // of the field `pass`, and of --pass
  OperandList (*operands)(const Problem&);
  // Inner dimension of each of its matrix products, all of them over (query, key) pairs.
  std::vector<int64_t> (*products)(const Problem&);
  std::vector<PassOutput> outputs;
  // Why there is no such pass of a problem, as a sentence; null: there always is.
  std::optional<std::string> (*unsupported)(const Problem&) = nullptr;
  std::unique_ptr<Reference> (*reference)(const Problem&, const OperandValues&);
  DeviceReference device_reference = {};  // none: a GPU's outputs are held against `reference` alone
};

std::span<const PassSpec> passes();
const PassSpec& pass_spec(Pass pass);  // throws std::out_of_range for one that is none
std::span<const std::string_view> pass_names();

std::string_view to_string(Pass pass);
std::optional<Pass> parse_pass(std::string_view text);

// A pass that is in the list while this lives: for tests of what a new pass takes. Not while other threads
// read the list.
class FurtherPass {
 public:
  explicit FurtherPass(const PassSpec& spec);
  ~FurtherPass();
  FurtherPass(const FurtherPass&) = delete;
  FurtherPass& operator=(const FurtherPass&) = delete;
  Pass pass() const { return pass_; }

 private:
  Pass pass_;
};

}  // namespace attnprof
