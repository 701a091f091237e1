#include "roofline/levels.hpp"

#include <algorithm>
#include <array>

namespace attnprof {
namespace {

constexpr LevelBytes l2_bytes = {
    .read = {"l2_read_bytes", &Counters::l2_read},
    .write = {"l2_write_bytes", &Counters::l2_write},
};

// L2's rate is of bytes as they arrive at the SMs, so it is the SM side's. What L2 itself serves is less, as
// it merges equal requests (by 17 % in the ceiling's own kernel): an intensity without a roof.
constexpr auto all_levels = std::to_array<Level>({
    {
        .name = "hbm",
        .title = "Device memory",
        .label = "HBM",
        .place = "at HBM",
        .passage = "to and from HBM",
        .bytes = {.total = {"hbm_bytes", &Counters::hbm_total},
                  .read = {"hbm_read_bytes", &Counters::hbm_read},
                  .write = {"hbm_write_bytes", &Counters::hbm_write}},
        .intensity = {"hbm_intensity", &Roofline::hbm_intensity},
        .bandwidth = find_bandwidth("hbm"),
        .modelled = {"model_hbm_bytes", &Model::hbm_bytes},
        .least = {"io_lower_bound_bytes", &Model::io_lower_bound_bytes},
        .write_in_kernel = {"hbm_write_in_kernel_bytes", &Counters::hbm_write_in_kernel},
    },
    {
        .name = "l2",
        .title = "L2",
        .label = "L2",
        .place = "at L2",
        .passage = "served by L2",
        .bytes = l2_bytes,
        .intensity = {"l2_intensity", &Roofline::l2_intensity},
    },
    {
        .name = "sm",
        .title = "SM side",
        .label = "SM-side",
        .place = "at the SMs",
        .passage = "into and out of the SMs",
        .bytes = {.total = {"sm_bytes", &Counters::sm_total},
                  .read = {"sm_read_bytes", &Counters::sm_read},
                  .write = {"sm_write_bytes", &Counters::sm_write}},
        .intensity = {"sm_intensity", &Roofline::sm_intensity},
        .bandwidth = find_bandwidth("l2"),
        .modelled = {"model_sm_bytes", &Model::sm_bytes},
        .lower_bound = l2_bytes,
        .why_lower = "L2 merges requests",
    },
});

}  // namespace

Count LevelBytes::count(const Row& row) const {
  const Counters& counters = row.counters;
  if (total) return counters.*total.value;
  if (!read || !write || !(counters.*read.value) || !(counters.*write.value)) return std::nullopt;
  return *(counters.*read.value) + *(counters.*write.value);
}

std::vector<std::string> LevelBytes::columns() const {
  if (total) return {std::string(total.name)};
  return {std::string(read.name), std::string(write.name)};
}

std::span<const Level> memory_levels() { return all_levels; }

}  // namespace attnprof
