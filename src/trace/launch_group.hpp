// The launches of one kernel in one configuration, and their rows.
#pragma once

#include <string>
#include <vector>

#include "device/device_profile.hpp"
#include "row/row.hpp"
#include "trace/launch_record.hpp"

namespace attnprof {

struct GroupedLaunch {
  LaunchRecord record;
  size_t process = 0;  // which of those that were traced, from 0
  size_t index = 0;    // among the process's launches of the group, from 0
  size_t order = 0;    // among all launches
};

struct LaunchGroup {
  std::vector<GroupedLaunch> launches;  // never empty
  std::map<size_t, size_t> of_process;  // launches by process
};
using LaunchGroups = std::vector<LaunchGroup>;

// Whether two launches are of one group: kernel or graph, NVTX range and configuration.
bool same_work(const LaunchRecord& a, const LaunchRecord& b);

// The column `variant`: the kernel's short name.
std::string variant_of(const LaunchRecord& launch);

// Of every count its median over the launches that have it.
LaunchCounts medians_of(const LaunchGroup& group);

// Rows with the roofline of `device`, without provenance. `medians`: of the launch's group.
Row row_of_group(const LaunchGroup& group, const DeviceProfile& device);
Row row_of_launch(const GroupedLaunch& launch, const LaunchCounts& medians, bool several_processes,
                  const DeviceProfile& device);

}  // namespace attnprof
