// Tests on a real GPU; skipped with the reason where there is none (needs_gpu.hpp).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/scratch.hpp"
#include "measure/compile/toolchain.hpp"
#include "measure/gpu/driver.hpp"
#include "measure/gpu/gpu_backend.hpp"
#include "measure/gpu/needs_gpu.hpp"
#include "schedule/tiling.hpp"
#include "test_paths.hpp"
#include "variants/registry.hpp"

namespace attnprof {

// Variants of these tests alone, whose kernel does what its name says instead of attention.
inline std::vector<Step> broken_steps(const Problem& p, const Tile& tile, const char* entry) {
  KernelLaunch kernel;
  kernel.file = "broken.cu";
  kernel.entry = entry;
  kernel.macros = kernel_macros(p, tile.br, tile.bc);
  kernel.threads = 32;
  return {Step{"attention", kernel, {}, true}};
}

inline constexpr const char* broken_source = R"(#include "attention_params.h"
extern "C" __global__ void untouched(const __grid_constant__ AttentionParams p) {}
extern "C" __global__ void fault(const __grid_constant__ AttentionParams p) { *reinterpret_cast<volatile int*>(16) = 1; }
extern "C" __global__ void beyond(const __grid_constant__ AttentionParams p) {
  const AttentionTensor& o = p.tensors[operand_o];
  if (threadIdx.x < 3) static_cast<char*>(o.data)[p.batch * o.strides.batch * 2 + threadIdx.x] = 1;
}
)";

inline Variant broken_variant(const char* name) {
  Variant variant = *all_variants().front();
  variant.name = name;
  variant.unsupported = [](const Problem&, const Tile&, const DeviceProfile&) {
    return std::optional<std::string>();
  };
  variant.default_tile = [](const Problem&, const DeviceProfile&) { return TileChoice{{16, 16}, ""}; };
  variant.workspace = [](const Problem&, const Tile&) { return std::vector<Operand>{}; };
  variant.steps = [name](const Problem& p, const Tile& t, const DeviceProfile&) {
    return broken_steps(p, t, name);
  };
  return variant;
}

inline Problem problem_of(int64_t length, Mask mask = Mask::full, Dtype dtype = Dtype::fp16) {
  Problem p;
  p.heads = 4, p.kv_heads = 2, p.head_dim = 64;
  p.q_len = p.kv_len = length;
  p.mask = mask;
  p.dtype = dtype;
  return p;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      driver();
      find_toolchain();
    } catch (const EnvironmentError& error) {
      return skip_or_fail(error.what());
    }
    static const ScratchDir shared_cache;  // kernels are compiled once for all tests
    options_.cache_dir = shared_cache.path();
    options_.kernels_dir = ATTNPROF_SOURCE_DIR "/kernels";
    options_.counters = CounterMode::off;
    options_.max_time_s = 0.1;
  }
  Case case_of(const Variant& variant, const Problem& problem, const DeviceProfile& device) {
    Case c;
    c.variant = &variant;
    c.problem = problem;
    c.tile = variant.default_tile(problem, device).tile;
    set_launches(c, device);
    return c;
  }
  // The first variant that takes this problem.
  Case any_case(const Problem& problem, const DeviceProfile& device) {
    for (const Variant* variant : all_variants()) {
      const Case c = case_of(*variant, problem, device);
      const bool has_kernel = std::filesystem::exists(std::filesystem::path(options_.kernels_dir) /
                                                      (std::string(variant->name) + ".cu"));
      if (has_kernel && !variant->unsupported(problem, c.tile, device)) return c;
    }
    throw std::logic_error("no variant takes the problem");
  }
  void use_broken_kernels() {
    const std::filesystem::path kernels = scratch_.path() / "kernels";
    std::filesystem::copy(options_.kernels_dir, kernels, std::filesystem::copy_options::recursive);
    std::ofstream(kernels / "broken.cu") << broken_source;
    options_.kernels_dir = kernels;
  }
  MeasureOptions options_;
  ScratchDir scratch_;
};

}  // namespace attnprof
