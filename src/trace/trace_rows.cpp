#include "trace/trace_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "measure/comparable_facts.hpp"
#include "trace/launch_group.hpp"

namespace attnprof {
namespace {

std::string version_text(int version, int major, int minor) {
  return fmt::format("{}.{}", version / major, version % major / minor);
}

using Facts = std::vector<std::pair<std::string, std::string>>;

BackendInfo info_of(const DeviceRecord& device, const Facts& settings) {
  const GpuProfile profile = profile_of_gpu(device.facts);
  BackendInfo info;
  info.name = "gpu";
  info.device = profile.device;
  info.environment = {{"gpu", device.facts.name},
                      {"arch", profile.device.arch},
                      {"cuda_driver", version_text(device.cuda_driver, 1000, 10)},
                      {"cupti", version_text(device.cupti, 10000, 100)}};
  info.environment.insert(info.environment.end(), settings.begin(), settings.end());
  info.comparable = names_of(traced_facts);
  if (!profile.builtin)
    info.notices.push_back(
        fmt::format("{} has no built-in profile: its peaks are unknown, so columns that need them stay empty",
                    device.facts.name));
  return info;
}

// Launches of one kernel in one configuration are one group.
void add(LaunchGroups& groups, const LaunchRecord& launch, size_t process, size_t order) {
  const auto found = std::ranges::find_if(
      groups, [&](const LaunchGroup& group) { return same_work(group.launches.front().record, launch); });
  LaunchGroup& group = found == groups.end() ? groups.emplace_back() : *found;
  group.launches.push_back({launch, process, group.of_process[process]++, order});
}

// Names that the variant column shortens, in full.
void name_kernels(const LaunchGroups& groups, BackendInfo& info) {
  for (const LaunchGroup& group : groups) {
    const LaunchRecord& launch = group.launches.front().record;
    const std::pair fact(fmt::format("kernel {}", variant_of(launch)), launch.kernel);
    if (variant_of(launch) != launch.kernel &&
        std::ranges::find(info.environment, fact) == info.environment.end())
      info.environment.push_back(fact);
  }
}

std::vector<Row> rows_of(const LaunchGroups& groups, RowsPer per, bool several_processes,
                         const DeviceProfile& device) {
  std::vector<std::pair<size_t, Row>> rows;
  for (const LaunchGroup& group : groups) {
    if (per == RowsPer::name) {
      rows.emplace_back(group.launches.front().order, row_of_group(group, device));
      continue;
    }
    const LaunchCounts medians = medians_of(group);
    for (const GroupedLaunch& launch : group.launches)
      rows.emplace_back(launch.order, row_of_launch(launch, medians, several_processes, device));
  }
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first; });
  std::vector<Row> ordered;
  for (auto& [order, row] : rows) ordered.push_back(std::move(row));
  return ordered;
}

// Cards that are alike in all that makes rows comparable are one run, however many there are.
struct Run {
  DeviceRecord device;
  Facts settings;
  LaunchGroups groups;
};

class Runs {
 public:
  explicit Runs(const CardSettings& settings) : ask_(settings) {}

  LaunchGroups& on(const DeviceRecord& device) {
    const Facts& settings = settings_of(device.bus_id);
    for (Run& known : runs_)
      if (known.device.facts == device.facts && known.settings == settings) return known.groups;
    return runs_.emplace_back(Run{device, settings, {}}).groups;
  }
  const std::vector<Run>& all() const { return runs_; }

 private:
  // The driver is asked once a card.
  const Facts& settings_of(const std::string& bus_id) {
    const auto known = settings_.find(bus_id);
    return known != settings_.end() ? known->second : settings_.emplace(bus_id, ask_(bus_id)).first->second;
  }

  const CardSettings& ask_;
  std::map<std::string, Facts> settings_;
  std::vector<Run> runs_;
};

}  // namespace

std::vector<TracedRun> traced_runs(const std::vector<ProcessTrace>& traces, RowsPer per,
                                   const CardSettings& settings) {
  Runs by_device(settings);
  size_t order = 0;
  for (size_t process = 0; process < traces.size(); ++process)
    for (const LaunchRecord& launch : traces[process].launches) {
      const auto device = traces[process].devices.find(launch.device);
      if (device == traces[process].devices.end()) continue;  // its line was lost: nothing to hold it against
      add(by_device.on(device->second), launch, process, order++);
    }
  const bool several =
      std::ranges::count_if(traces, [](const ProcessTrace& trace) { return !trace.launches.empty(); }) > 1;
  std::vector<TracedRun> runs;
  for (const Run& launched : by_device.all()) {
    TracedRun run{info_of(launched.device, launched.settings), {}};
    name_kernels(launched.groups, run.info);
    run.rows = rows_of(launched.groups, per, several, run.info.device);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace attnprof
