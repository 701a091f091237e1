// A case ready to run: its kernels loaded, its operands on the device.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "attention_params.h"
#include "measure/gpu/gpu_device.hpp"
#include "plugin/plugin_library.hpp"
#include "problem/inputs.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// As a kernel finds the rows of an operand.
AttentionStrides strides_of(const Operand& operand);

class PreparedCase {
 public:
  // Compiles, checks free memory, allocates, and fills the inputs. Throws CaseSkipped with bytes
  // needed and free, CaseFailed for what does not compile.
  PreparedCase(const Case& c, const InputSource& inputs, GpuDevice& gpu, KernelCompiler& compiler);

  // The operation: every timed step in order. Only enqueues.
  void run() const;
  // Outputs to NaN patterns, workspaces to what they start from, then the steps that are not timed. Only
  // enqueues.
  void reset() const;

  // Moves the operands on to another placement in device memory: to a new one, with inputs filled as before
  // and the operation run there once, until there are `most` or no more room, then through those there are.
  // Where operands lie changes which of them L2 can hold together, and so times and HBM bytes. False where
  // there is only one placement.
  bool relocate(size_t most);

  // Moves the operands into buffers that stand between guard bands, for verifying alone, with inputs filled
  // as before: where buffers lie changes times and counted bytes, so those of the placements keep to their
  // sizes. Throws CaseSkipped; the case is over then.
  void enter_guards();
  // Frees those buffers and goes back to the first placement, ready to run there. Throws CaseSkipped.
  void leave_guards();
  // Throws CaseFailed where something was written beside an operand that stands between guard bands since the
  // inputs were filled; waits.
  void check_guards() const;

  const Case& planned() const { return case_; }
  const InputSource& inputs() const { return inputs_; }
  const OperandList& operands() const { return operands_; }
  const DeviceBuffer& buffer(OperandId id) const { return placements_[placement_][operands_.place(id)]; }
  Count launches() const;  // timed; nothing where a plug-in makes some
  // Launch and build figures; per-block ones of the longest step, empty when that is a library's.
  Build build() const;

 private:
  struct LoadedKernel {
    CompiledKernel compiled;
    Module module;
    CUfunction function;
    AttentionParams params;
  };
  LoadedKernel load(const KernelLaunch& kernel, KernelCompiler& compiler) const;
  std::vector<DeviceBuffer> allocated(int64_t guard) const;  // throws CaseSkipped
  bool add_placement(size_t most);                           // false: no room for it, or no need
  int64_t placement_guard() const;
  void fill_inputs() const;
  AttentionParams params(const KernelLaunch& kernel) const;
  void set_params();  // of every kernel, for where the operands lie
  void run_step(size_t index) const;
  size_t longest_step() const;
  void describe_step(size_t index, Build& build) const;
  void describe_kernel(size_t index, const KernelLaunch& kernel, Build& build) const;
  std::string kernel_hash() const;

  Case case_;
  InputSource inputs_;
  GpuDevice& gpu_;
  OperandList operands_;
  std::vector<Step> steps_;
  std::vector<std::optional<LoadedKernel>> kernels_;   // by step; nothing for other kinds
  std::vector<std::vector<DeviceBuffer>> placements_;  // by operand; while verifying, with that of it last
  std::vector<std::unique_ptr<PluginOperation>> plugins_;  // by step; null for other kinds
  std::vector<void*> addresses_;                           // of the operands in the present placement
  size_t placement_ = 0;                                   // the present one
  bool full_ = false;                                      // no room for another
};

}  // namespace attnprof
