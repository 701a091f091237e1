#include "plan/skip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/overloaded.hpp"
#include "plan/knob_axes.hpp"
#include "plan/sweep.hpp"
#include "problem/passes.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {
namespace {

constexpr int most_threads = 1024;
constexpr int64_t most_blocks_x = std::numeric_limits<int32_t>::max();
constexpr int64_t most_blocks_yz = 65'535;

std::optional<std::string> bad_side(std::string_view name, int side, int tile_step) {
  if (side % tile_step == 0) return std::nullopt;
  return fmt::format("{} = {} is no multiple of {}, the rows of a tensor core instruction", name, side,
                     tile_step);
}

using Reason = std::optional<std::string>;

Reason too_many_blocks(const std::string& step, const Dim3& grid) {
  const auto refuse = [&](std::string_view what, int64_t blocks, int64_t most) {
    return fmt::format("step {} needs {} along {} of its grid, a launch has at most {}", step, blocks, what,
                       most);
  };
  if (grid.x > most_blocks_x) return refuse("x", grid.x, most_blocks_x);
  if (grid.y > most_blocks_yz) return refuse("y", grid.y, most_blocks_yz);
  if (grid.z > most_blocks_yz) return refuse("z", grid.z, most_blocks_yz);
  return std::nullopt;
}

Reason too_much_for_a_block(const std::string& step, const KernelLaunch& kernel,
                            const DeviceProfile& device) {
  if (kernel.smem_bytes > device.smem_per_block_bytes)
    return fmt::format("step {} needs {} bytes of shared memory a block, {} allows {}", step,
                       kernel.smem_bytes, device.name, device.smem_per_block_bytes);
  if (kernel.threads > most_threads)
    return fmt::format("step {} needs {} threads a block, a block has at most {}", step, kernel.threads,
                       most_threads);
  return std::nullopt;
}

// cuBLAS takes sizes as int.
Reason too_large_a_product(const std::string& step, const GemmLaunch& gemm) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (std::max({gemm.m, gemm.n, gemm.k, gemm.count}) <= most) return std::nullopt;
  return fmt::format("step {} is {} products {} x {} x {}; a library takes sizes up to {}", step, gemm.count,
                     gemm.m, gemm.n, gemm.k, most);
}

Reason too_much_for_a_launch(const Step& step, const DeviceProfile& device) {
  return std::visit(overloaded{[&](const KernelLaunch& kernel) {
                                 const Reason reason = too_many_blocks(step.name, kernel.grid);
                                 return reason ? reason : too_much_for_a_block(step.name, kernel, device);
                               },
                               [&](const GemmLaunch& gemm) { return too_large_a_product(step.name, gemm); },
                               [](const MemsetLaunch&) { return Reason(); },
                               [](const PluginLaunch&) { return Reason(); }},  // it says so itself
                    step.launch);
}

Reason too_much_for_a_launch(const Case& c, const DeviceProfile& device) {
  for (const Step& step : c.steps)
    if (Reason reason = too_much_for_a_launch(step, device)) return reason;
  return std::nullopt;
}

Reason missing_pass(const Case& c) {
  const std::vector<Pass>& has = c.variant->passes;
  if (std::ranges::find(has, c.problem.pass) != has.end()) return std::nullopt;
  std::vector<std::string_view> names;
  for (const Pass pass : has) names.push_back(to_string(pass));
  return fmt::format("{} has the pass {}, not {}", c.variant->name, fmt::join(names, ", "),
                     to_string(c.problem.pass));
}

std::optional<std::string> unheeded_field(const Case& c) {
  for (const ProblemField& field : problem_fields())
    if (field.tells(c.problem) && !field.first_schema &&
        std::ranges::find(c.variant->later_fields, field.name) == c.variant->later_fields.end())
      return fmt::format("{} does not have {} = {}", c.variant->name, field.name, field.text(c.problem));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unsupported_reason(const Case& c, const DeviceProfile& device) {
  if (auto reason = missing_pass(c)) return reason;
  if (const auto unsupported = pass_spec(c.problem.pass).unsupported)
    if (auto reason = unsupported(c.problem)) return reason;
  if (auto reason = unheeded_field(c)) return reason;
  if (auto reason = bad_side("Br", c.tile.br, c.variant->tile_step)) return reason;
  if (auto reason = bad_side("Bc", c.tile.bc, c.variant->tile_step)) return reason;
  if (auto reason = bad_knob(c.tile.knobs, *c.variant)) return reason;
  return c.variant->unsupported(c.problem, c.tile, device);
}

std::optional<std::string> too_much_reason(const Case& c, const DeviceProfile& device, int64_t free_bytes) {
  if (auto reason = too_much_for_a_launch(c, device)) return reason;
  const int64_t needed = device_bytes_needed(c, device);
  if (needed > free_bytes)
    return fmt::format("needs {} bytes of device memory ({:.3g} GB), {} are free ({:.3g} GB)", needed,
                       static_cast<double>(needed) / 1e9, free_bytes, static_cast<double>(free_bytes) / 1e9);
  return std::nullopt;
}

std::optional<std::string> skip_reason(const Case& c, const DeviceProfile& device, int64_t free_bytes) {
  if (auto reason = unsupported_reason(c, device)) return reason;
  return too_much_reason(c, device, free_bytes);
}

}  // namespace attnprof
