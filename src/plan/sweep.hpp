// A sweep as asked for, and the cases it expands to: the product of its axes, in a fixed order, each with its
// tile resolved and, where it cannot run, the reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/knob_axes.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// Values of the problem's fields (problem/problem_fields), as texts, by the field's name; a field that is not
// in it has its preset.
using FieldAxes = std::map<std::string, std::vector<std::string>, std::less<>>;

// The written defaults; the same plan on every backend.
struct SweepAxes {
  std::vector<std::string> variants = {"naive", "standard", "flash1", "flash2", "flash3"};
  FieldAxes fields;
  // q_len = kv_len, unless `fields` has q_len and kv_len: then every pair of those.
  std::vector<int64_t> seqlens = {512, 1024, 2048, 4096};
  std::optional<int64_t> tokens;  // batch = tokens / N instead of the field
  std::optional<int64_t> hidden;  // heads = hidden / d instead of the field
  std::vector<int64_t> brs, bcs;  // empty: the variant's default
  std::vector<KnobAxis> knobs;    // of the variants that have them; absent: the variant's choice
  std::vector<CacheState> caches = {CacheState::cold};

  bool has_pairs() const { return fields.contains("q_len") || fields.contains("kv_len"); }
  // Of a field, given or preset; none where it follows another's (kv_heads: heads).
  std::vector<std::string> values(std::string_view field) const;
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
