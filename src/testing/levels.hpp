// Memory levels as tests need them: the list with an entry more, and rows and devices that have something at
// each.
#pragma once

#include <span>
#include <vector>

#include "roofline/levels.hpp"
#include "testing/round_device.hpp"

namespace attnprof {

// The list with a link between GPUs, told by figures and columns that no other level has.
inline std::span<const Level> with_a_link() {
  static constexpr Bandwidth link = {"link",           "link",           &DeviceProfile::smem_gbps,
                                     "smem_read_gbps", "smem_read_gbps", &Rates::smem,
                                     &Rates::smem};
  static const std::vector<Level> levels = [] {
    std::vector<Level> all;
    for (const Level& level : levels_with_rate(memory_levels())) all.push_back(level);
    all.push_back({
        .name = "link",
        .title = "Between GPUs",
        .label = "Link",
        .place = "at the link",
        .passage = "between GPUs",
        .bytes = {.total = {"local_bytes", &Counters::local}},
        .intensity = {"l2_intensity", &Roofline::l2_intensity},
        .bandwidth = &link,
        .everywhere = false,
    });
    return all;
  }();
  return levels;
}

inline std::span<const Level> levels_for_test(bool link_too) {
  return link_too ? with_a_link() : memory_levels();
}

// round_device's rates, and 0.5 TB/s of the link.
inline DeviceProfile device_with_a_link() {
  DeviceProfile device = round_device();
  device.smem_gbps = 500;
  return device;
}

// A row that was counted at each of the levels, 1 MB more at each than at the one before; too little to bind.
inline Row row_with_bytes(std::span<const Level> levels) {
  Row row;
  row.identity.word("dtype") = "fp16";
  row.identity.count("head_dim") = 100;
  row.model.useful_flops = 4'000'000;
  row.latency.median_ns = 1'000'000;
  int64_t bytes = 0;
  for (const Level& level : levels)
    for (const CountedColumn& column : {level.bytes.total, level.bytes.read, level.bytes.write})
      if (column) row.counters.*column.value = bytes += 1'000'000;
  return row;
}

}  // namespace attnprof
