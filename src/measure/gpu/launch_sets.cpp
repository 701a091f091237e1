#include "measure/gpu/launch_sets.hpp"

#include <algorithm>

namespace attnprof {
namespace {

using Metrics = std::vector<CounterMetric>;

class Packing {
 public:
  Packing(const std::string& chip, const std::vector<uint8_t>& availability)
      : chip_(chip), availability_(availability), sets_{launch_metrics()} {}

  // Into the first set where all still is one pass; a set has tensor FLOPs of one type.
  void add(const CounterMetric& metric) {
    if (!is_known(metric)) return;
    for (Metrics& set : sets_) {
      if (metric.quantity == Quantity::tensor_flops && has_tensor(set)) continue;
      Metrics more = set;
      more.push_back(metric);
      if (MetricPlan(chip_, more, availability_).passes() > 1) continue;
      set = std::move(more);
      return;
    }
    sets_.push_back(launch_metrics());
    sets_.back().push_back(metric);
  }

  const std::vector<Metrics>& sets() const { return sets_; }

 private:
  bool is_known(const CounterMetric& metric) const {
    Metrics with_others = launch_metrics();
    with_others.push_back(metric);
    const std::vector<std::string> missing = MetricPlan(chip_, with_others, availability_).missing();
    return std::ranges::find(missing, metric.names.front()) == missing.end();
  }

  static bool has_tensor(const Metrics& set) {
    return std::ranges::any_of(set,
                               [](const CounterMetric& m) { return m.quantity == Quantity::tensor_flops; });
  }

  const std::string& chip_;
  const std::vector<uint8_t>& availability_;
  std::vector<Metrics> sets_;
};

// Which of the tensor counters it is: they differ by name.
std::optional<Dtype> tensor_dtype(const Metrics& set) {
  for (const CounterMetric& metric : set)
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
      if (metric.quantity == Quantity::tensor_flops && metric.names == tensor_metric(dtype).names)
        return dtype;
  return std::nullopt;
}

}  // namespace

LaunchSets plan_launch_sets(const std::string& chip, const std::vector<uint8_t>& availability) {
  Packing packing(chip, availability);
  packing.add(tensor_metric(Dtype::bf16));
  for (const CounterMetric& metric : further_launch_metrics()) packing.add(metric);
  for (const Dtype dtype : {Dtype::fp16, Dtype::fp8, Dtype::fp32}) packing.add(tensor_metric(dtype));
  LaunchSets planned;
  for (const Metrics& metrics : packing.sets()) {
    planned.plans.push_back(std::make_unique<MetricPlan>(chip, metrics, availability));
    const std::optional<Dtype> tensor = tensor_dtype(metrics);
    planned.sets.push_back({.others = metrics.size() > launch_metrics().size() + (tensor ? 1 : 0),
                            .tensor = tensor,
                            .passes = planned.plans.back()->passes()});
  }
  return planned;
}

LaunchCounts named_counts(const CounterValues& values, const CountSet& set) {
  LaunchCounts counts;
  for (size_t i = 0; i < quantity_count; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    if (const std::optional<double> value = values[quantity])
      counts[count_name(quantity, quantity == Quantity::tensor_flops ? set.tensor : std::nullopt)] = *value;
  }
  return counts;
}

}  // namespace attnprof
