// One configuration of the profiler: metrics that are collected together, planned by CUPTI's host API, which
// needs neither GPU nor driver.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/gpu/cupti.hpp"
#include "measure/gpu/metrics.hpp"

namespace attnprof {

// Values by quantity, in its unit; nothing where the chip has no such counter.
class CounterValues {
 public:
  std::optional<double>& operator[](Quantity quantity) { return values_[static_cast<size_t>(quantity)]; }
  std::optional<double> operator[](Quantity quantity) const { return values_[static_cast<size_t>(quantity)]; }

 private:
  std::array<std::optional<double>, quantity_count> values_;
};

class MetricPlan {
 public:
  // Metrics that the chip (upper case: "GH100") does not know by any of their names are left out (missing()).
  // `availability`: the device's counter availability image, empty to plan without a device. Throws
  // EnvironmentError when CUPTI does not know the chip or cannot schedule the metrics.
  MetricPlan(const std::string& chip, std::span<const CounterMetric> metrics,
             const std::vector<uint8_t>& availability = {});
  ~MetricPlan();
  MetricPlan(const MetricPlan&) = delete;
  MetricPlan& operator=(const MetricPlan&) = delete;

  size_t passes() const { return passes_; }
  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<uint8_t>& config() const { return config_; }
  // For CUPTI's calls, which take an array that is not const.
  const char** names() { return names_.data(); }
  size_t size() const { return names_.size(); }

  // Range `index` of a decoded counter data image. Throws CaseFailed naming the metric when a value is not
  // finite: CUPTI's way to say that it was not collected.
  CounterValues evaluate(const std::vector<uint8_t>& counter_data, size_t index);

 private:
  void add(const CounterMetric& metric);
  bool knows(const char* name) const;
  void configure(const std::string& chip);

  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<CounterMetric> metrics_;
  std::vector<const char*> names_;  // of metrics_, on this chip
  std::vector<std::string> missing_;
  std::vector<uint8_t> config_;
  size_t passes_ = 0;
};

}  // namespace attnprof
