#include "measure/summarised_latency.hpp"

namespace attnprof {

Latency summarised_latency(const Summary& summary, const std::string& source) {
  Latency latency;
  latency.latency_source = source;
  latency.median_ns = summary.median;
  latency.min_ns = summary.min;
  latency.p90_ns = summary.p90;
  if (summary.ci95) {
    latency.ci95_low_ns = summary.ci95->low;
    latency.ci95_high_ns = summary.ci95->high;
  }
  latency.samples = summary.samples;
  latency.drift_pct = summary.drift_pct;
  return latency;
}

}  // namespace attnprof
