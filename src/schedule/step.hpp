// A step: one launch of a variant, as plain data that a backend runs and the model follows.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/saturating.hpp"
#include "device/product_unit.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

struct Dim3 {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;
  int64_t count() const { return saturating_product({x, y, z}); }
};

// How the bulk-copy engine (TMA) views an operand: as (cols, rows, slices), in its dtype, moved in boxes of
// one slice. Rows and columns beyond the operand's read as zeros and are not written, so a box never crosses
// into the next slice. The driver encodes it (measure/gpu/tensor_map.hpp).
struct TensorMap {
  OperandId operand = operand_q;
  int64_t box_rows = 0;   // up to 256
  int64_t box_cols = 0;   // elements, up to 256
  int swizzle_bytes = 0;  // of shared memory: 0 (none), 32, 64, 128; a box row is no longer than it
};

// A kernel of kernels/<file>, compiled for the device at run time with `macros`. It takes AttentionParams.
struct KernelLaunch {
  std::string file;   // "flash2.cu"
  std::string entry;  // "flash2"
  std::vector<std::pair<std::string, std::string>> macros;
  Dim3 grid;
  int threads = 0;
  int64_t smem_bytes = 0;                   // dynamic shared memory of one block
  int expected_registers = 0;               // a thread, for occupancy where nothing is compiled
  std::vector<TensorMap> tensor_maps = {};  // slot i of AttentionParams::tensor_maps
};

// C = alpha op(A) op(B) + beta C, row-major, one product for each of `count` batches (cuBLAS strided
// batched), each operand in its own element type. Strides and leading dimensions in elements.
struct GemmLaunch {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t count = 0;
  bool transpose_a = false;  // A is k x m
  bool transpose_b = false;  // B is n x k
  float alpha = 1, beta = 0;
  OperandId a = operand_q, b = operand_k, c = operand_o;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// Fills a whole operand with one byte value.
struct MemsetLaunch {
  OperandId operand = operand_workspace;
  uint8_t value = 0;
};

// Whatever a plug-in enqueues (plugin/plugin_library.hpp). Null outside the process that measures: no other
// runs the plug-in's code.
class PluginLibrary;
struct PluginLaunch {
  const PluginLibrary* library = nullptr;
};

// What of a launch's speed its schedule does not say, for the model of time (model/launch_time.hpp).
struct Pace {
  ProductUnit unit = ProductUnit::none;
  double round_cycles =
      0;          // that a block waits in a Unit::round whatever its tiles, fitted to an H200's rows
  int warps = 0;  // of a block that compute; 0: all of them
};

struct Step {
  std::string name;  // "scores", "softmax", "output"
  std::variant<KernelLaunch, GemmLaunch, MemsetLaunch, PluginLaunch> launch;
  Schedule schedule;
  bool timed = true;  // part of the operation; false: preparation, run once before it
  Pace pace = {};
};

}  // namespace attnprof
