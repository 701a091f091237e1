#include "plan/skip.hpp"

#include <fmt/format.h>

#include "plan/sweep.hpp"

namespace attnprof {
namespace {

constexpr int tile_step = 16;  // rows of a tensor core instruction
constexpr int most_threads = 1024;

std::optional<std::string> bad_side(std::string_view name, int side) {
  if (side % tile_step == 0) return std::nullopt;
  return fmt::format("{} = {} is no multiple of {}, the rows of a tensor core instruction", name, side,
                     tile_step);
}

std::optional<std::string> too_much_of_a_block(const Case& c, const DeviceProfile& device) {
  for (const Step& step : c.variant->steps(c.problem, c.tile, device)) {
    const auto* kernel = std::get_if<KernelLaunch>(&step.launch);
    if (!kernel) continue;
    if (kernel->smem_bytes > device.smem_per_block_bytes)
      return fmt::format("step {} needs {} bytes of shared memory a block, {} allows {}", step.name,
                         kernel->smem_bytes, device.name, device.smem_per_block_bytes);
    if (kernel->threads > most_threads)
      return fmt::format("step {} needs {} threads a block, a block has at most {}", step.name,
                         kernel->threads, most_threads);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> skip_reason(const Case& c, const DeviceProfile& device, int64_t free_bytes) {
  if (auto reason = bad_side("Br", c.tile.br)) return reason;
  if (auto reason = bad_side("Bc", c.tile.bc)) return reason;
  if (auto reason = c.variant->unsupported(c.problem, c.tile, device)) return reason;
  if (auto reason = too_much_of_a_block(c, device)) return reason;
  const int64_t needed = device_bytes_needed(c, device);
  if (needed > free_bytes)
    return fmt::format("needs {} bytes of device memory ({:.3g} GB), {} are free ({:.3g} GB)", needed,
                       static_cast<double>(needed) / 1e9, free_bytes, static_cast<double>(free_bytes) / 1e9);
  return std::nullopt;
}

}  // namespace attnprof
