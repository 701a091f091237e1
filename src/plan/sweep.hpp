// A sweep as asked for, and the cases it expands to: the product of its axes, in a fixed order, each with its
// tile resolved and, where it cannot run, the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/knob_axes.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// The written defaults; the same plan on every backend.
struct SweepAxes {
  std::vector<std::string> variants = {"naive", "standard", "flash1", "flash2", "flash3"};
  std::vector<int64_t> seqlens = {512, 1024, 2048, 4096};
  std::vector<int64_t> q_lens;  // with kv_lens instead of seqlens: every pair
  std::vector<int64_t> kv_lens;
  std::vector<int64_t> head_dims = {64, 128};
  std::vector<int64_t> batches = {1};
  std::optional<int64_t> tokens;  // batch = tokens / N instead of batches
  std::vector<int64_t> heads = {16};
  std::optional<int64_t> hidden;  // heads = hidden / d instead of heads
  std::vector<int64_t> kv_heads;  // empty: as heads
  std::vector<int64_t> brs, bcs;  // empty: the variant's default
  std::vector<KnobAxis> knobs;    // of the variants that have them; absent: the variant's choice
  std::vector<Dtype> dtypes = {Dtype::fp16};
  std::vector<Mask> masks = {Mask::full};
  std::vector<CacheState> caches = {CacheState::cold};
};

// Throws UsageError for what contradicts itself (tokens no multiple of N, heads no multiple of kv_heads,
// ...), names no variant or knob, or is absurdly large: all that can be told before a device is opened.
void check_axes(const SweepAxes& axes);

// Throws as check_axes does. `free_bytes`: device memory a case may use.
std::vector<Case> expand(const SweepAxes& axes, const DeviceProfile& device, int64_t free_bytes);

// Resolves the tile, the knobs in force and the skip reason of one case: the variant's own limits, shared
// memory of a block, device memory.
void resolve(Case& c, const DeviceProfile& device, int64_t free_bytes);

// Device memory a case needs: its operands, workspace, and the buffer that is read to evict L2 (4 x L2).
int64_t device_bytes_needed(const Case& c, const DeviceProfile& device);

}  // namespace attnprof
