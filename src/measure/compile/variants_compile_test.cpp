// Device code is part of every build: each variant at its default and at edge tiles goes through the real
// nvcc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "device/device_profiles.hpp"
#include "measure/compile/ceiling_kernels.hpp"
#include "measure/compile/compile_plan.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "plan/skip.hpp"
#include "variants/flash3_prepare.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

// Of one variant on both targets. nvcc takes a second or two for each, so all of it stays a small part of a
// CI run.
constexpr size_t most_cubins = 18;

struct Kernel {
  Dtype dtype;
  Mask mask;
  int64_t head_dim;
  Tile tile = {};  // at the edges
  Pass pass = Pass::forward;
  int64_t page_size = 0;
};

constexpr Tile smallest = {16, 16}, tallest = {256, 16}, widest = {16, 256}, uneven = {48, 80};

enum class Tiles { by_default, at_edges };

// `standard` takes no tile: all of its kernels are by default.
std::vector<Kernel> kernels_of(std::string_view variant, Tiles tiles) {
  using enum Dtype;
  using enum Mask;
  if (tiles == Tiles::by_default) {
    if (variant == "standard")
      return {{fp16, full, 64}, {fp16, causal, 64}, {bf16, causal, 64}, {fp32, full, 64}};
    std::vector<Kernel> kernels = {
        {fp16, full, 64}, {fp16, full, 128}, {bf16, causal, 128}, {fp16, causal, 256}};
    if (variant == "naive")
      kernels.insert(kernels.end(), {{fp32, full, 128}, {bf16, causal, 128, {}, Pass::backward}});
    if (variant == "flash2") kernels.push_back({bf16, causal, 64, {}, Pass::forward, 16});
    if (variant == "flash3") kernels.insert(kernels.end(), {{fp8, full, 128}, {fp8, causal, 256}});
    return kernels;
  }
  if (variant == "standard") return {};
  if (variant == "flash3")
    return {{bf16, full, 16, {64, 16}}, {fp16, causal, 80, {192, 80}}, {fp8, causal, 96, {128, 224}}};
  std::vector<Kernel> kernels = {{bf16, full, 16, smallest}, {fp16, causal, 80, uneven}};
  if (variant != "naive")
    kernels.insert(kernels.end(), {{fp16, causal, 64, tallest}, {fp16, full, 64, widest}});
  return kernels;
}

std::vector<Case> cases_of(const Variant& variant, const DeviceProfile& device, Tiles tiles) {
  std::vector<Case> cases;
  for (const Kernel& kernel : kernels_of(variant.name, tiles)) {
    Case c;
    c.variant = &variant;
    c.problem.pass = kernel.pass, c.problem.dtype = kernel.dtype, c.problem.mask = kernel.mask;
    c.problem.page_size = kernel.page_size;
    c.problem.q_len = c.problem.kv_len = 4096, c.problem.head_dim = kernel.head_dim;
    c.tile = tiles == Tiles::at_edges ? kernel.tile : variant.default_tile(c.problem, device).tile;
    set_launches(c, device);
    cases.push_back(c);
  }
  return cases;
}

struct Target {
  const Variant* variant;
  std::string profile;
};
void PrintTo(const Target& target, std::ostream* out) {
  *out << target.variant->name << " on " << target.profile;
}

std::vector<Target> targets() {
  std::vector<Target> all;
  for (const Variant* variant : all_variants())
    for (const char* profile : {"a100-sxm-80g", "h200"})
      if (variant->name != "flash3" || profile != std::string_view("a100-sxm-80g"))
        all.push_back({variant, profile});  // flash3: Hopper's instructions
  return all;
}

class VariantsCompile : public NvccTest, public testing::WithParamInterface<Target> {
 protected:
  // Every kernel compiles for the target and fits a block's shared memory; what nvcc says of each.
  static std::vector<KernelReport> compiled(Tiles tiles) {
    const DeviceProfile& device = *find_profile(GetParam().profile);
    const std::vector<Case> cases = cases_of(*GetParam().variant, device, tiles);
    for (const Case& c : cases) EXPECT_EQ(skip_reason(c, device, device.hbm_bytes), std::nullopt);
    KernelCompiler compiler(options());
    std::vector<KernelReport> reports = compile_plan(cases, {device.arch}, compiler, 1);
    for (const KernelReport& report : reports) {
      EXPECT_EQ(report.error, "");
      EXPECT_GT(report.registers, 0) << name(report);
      EXPECT_LE(report.smem_bytes, device.smem_per_block_bytes) << name(report);
    }
    return reports;
  }
  static std::string name(const KernelReport& r) {
    const Identity& id = r.identity;
    return fmt::format("{} {} {} d{} {}x{}", r.entry, id.word("dtype"), id.word("mask"),
                       id.problem.text("head_dim"), r.resolved.br.value_or(0), r.resolved.bc.value_or(0));
  }
};

// flash3's fastest tiles fill the registers; what it spills is what it needs once a tile of Q
// (results/h200/pages/notes-forward.md).
TEST_P(VariantsCompile, AtDefaultTilesWithFewSpillsOrNone) {
  const int allowed = GetParam().variant->name == "flash3" ? 128 : 0;
  const auto reports = compiled(Tiles::by_default);
  EXPECT_FALSE(reports.empty());
  for (const KernelReport& report : reports) EXPECT_LE(report.spill_bytes, allowed) << name(report);
}

TEST_P(VariantsCompile, AtEdgeTiles) {
  EXPECT_EQ(compiled(Tiles::at_edges).empty(), GetParam().variant->name == "standard");
}

INSTANTIATE_TEST_SUITE_P(All, VariantsCompile, testing::ValuesIn(targets()), [](const auto& test) {
  return fmt::format("{}_{}", test.param.variant->name, find_profile(test.param.profile)->arch);
});

// Kernels no variant of its own: the preparation that fp8 needs, and what surrounds the measured ones.
TEST_F(NvccTest, SharedKernelsCompileWithoutSpills) {
  KernelCompiler compiler(options());
  std::vector<KernelLaunch> kernels(1);
  kernels[0].file = "lib/harness.cu", kernels[0].entry = "fill_random";
  kernels.push_back(ceilings_module());
  for (const TensorRateKernel& kernel : tensor_rate_kernels(9, 0, 132)) {
    kernels.push_back(kernel.launch);
    kernels.back().expected_registers = 65536 / 256;  // wgmma: one block an SM; mma bounds itself to half
  }
  for (int64_t head_dim : {64, 192, 256}) {
    const Problem p{.dtype = Dtype::fp8, .q_len = 512, .kv_len = 512, .head_dim = head_dim};
    kernels.push_back(std::get<KernelLaunch>(transpose_v_step(p, operand_workspace, false).launch));
  }
  for (const KernelLaunch& kernel : kernels) {
    const CompiledKernel compiled = compiler.compile(kernel, "sm_90a");
    EXPECT_GT(compiled.registers, 0) << kernel.entry;
    EXPECT_LE(compiled.registers, std::max(40, kernel.expected_registers)) << kernel.entry;
    EXPECT_EQ(compiled.spill_store_bytes + compiled.spill_load_bytes, 0) << kernel.entry;
  }
}

// The three launches of one variant and tile come from one cubin.
TEST_F(NvccTest, TheVariantsCompileToFewCubins) {
  const KernelCompiler compiler(options());
  std::map<std::string_view, std::set<std::vector<std::string>>> commands;
  for (const Target& target : targets()) {
    const DeviceProfile& device = *find_profile(target.profile);
    for (Tiles tiles : {Tiles::by_default, Tiles::at_edges})
      for (const Case& c : cases_of(*target.variant, device, tiles))
        for (const Step& step : c.steps)
          if (const auto* kernel = std::get_if<KernelLaunch>(&step.launch))
            commands[target.variant->name].insert(compiler.command(*kernel, device.arch));
  }
  EXPECT_EQ(commands.size(), all_variants().size());
  for (const auto& [variant, cubins] : commands) {
    EXPECT_LE(cubins.size(), most_cubins) << variant;
    EXPECT_GE(cubins.size(), 2u) << variant;
  }
}

}  // namespace
}  // namespace attnprof
