// The latency columns of repeated times.
#pragma once

#include <string>

#include "measure/statistics.hpp"
#include "row/row.hpp"

namespace attnprof {

// `summary`: of times in ns. Median, extremes, interval, drift and count; the clock is left empty.
Latency summarised_latency(const Summary& summary, const std::string& source);

}  // namespace attnprof
