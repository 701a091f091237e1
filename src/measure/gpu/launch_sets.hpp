// The counters of a traced launch, in sets that one pass collects: a launch cannot be repeated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/gpu/count_turns.hpp"
#include "measure/gpu/metric_plan.hpp"

namespace attnprof {

struct LaunchSets {
  std::vector<std::unique_ptr<MetricPlan>> plans;
  std::vector<CountSet> sets;  // what each of them holds
};

// For the chip as it is now. All hold launch_metrics(); the first has bf16 tensor FLOPs and as much of the
// rest as fits. A counter that takes several passes by itself (fp16 tensor FLOPs on GH100) is a set of its
// own, whose passes are successive launches. Some 50 plans are tried, by the host alone. Throws
// EnvironmentError.
LaunchSets plan_launch_sets(const std::string& chip, const std::vector<uint8_t>& availability = {});

// By count_name.
LaunchCounts named_counts(const CounterValues& values, const CountSet& set);

}  // namespace attnprof
