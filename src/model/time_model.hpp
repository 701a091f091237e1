// The model of a case's time: what its launches cost, what their bytes and their blocks need.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/rates.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// What a schedule executes, all steps together.
struct ScheduleAmounts {
  double tensor_flops = 0, fma_flops = 0, exponentials = 0;
  double smem_bytes = 0, sm_bytes = 0;
  bool exact = true;                     // its tiles are ours, not a library's
  ProductUnit unit = ProductUnit::none;  // of its products
};

// Shares of the bytes at the SMs that get further: from counters where there are any.
struct MemoryShares {
  double l2 = 1;                   // that L2 serves; less where equal requests of neighbouring SMs are merged
  std::optional<double> hbm;       // that reach device memory; absent: not known, and HBM is left out
  std::optional<double> sm_bytes;  // as counted: what a library's tiles really moved
};

struct StepTime {
  std::string name;
  double fixed_ns = 0;   // launch, and where no schedule says it, the first loads and last stores
  double memory_ns = 0;  // its bytes, through HBM or L2, whichever needs longer
  double sm_ns = 0;      // its blocks, as they fill the device
  double even_ns = 0;    // the same work, were every SM always full
  int64_t blocks = 0;
  int resident = 0;  // blocks an SM holds
  double ns() const { return fixed_ns + (memory_ns > sm_ns ? memory_ns : sm_ns); }
};

struct TimeModel {
  std::vector<StepTime> steps;
  ScheduleAmounts amounts;
  double ns() const;
  const StepTime& longest() const;
  // Of the SMs' room, in the steps where they and not the memory set the time: how much stays empty. Nothing
  // where the memory sets all of it.
  std::optional<double> idle_share() const;
};

// Nothing where the case has no schedule or the device's SMs are not known. Runs the schedule of one (batch,
// kv head) slice and takes the others for alike: milliseconds.
std::optional<TimeModel> model_time(const Case& c, const DeviceProfile& device, const Rates& rates,
                                    const MemoryShares& shares);

}  // namespace attnprof
