// How much of a case is simulated: all of it, or slices that stand for the others, since (batch, kv head)
// slices are alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/predict.hpp"

namespace attnprof {

struct SimulationPlan {
  enum class Way {
    whole,
    one_for_all,   // all blocks are on the device at once and advance alike: one slice, for all
    few_and_many,  // slices follow one another: what each adds from `few` to `many` is the same
    waves,         // as many slices as run at once advance alike, one such wave after another
  };
  Way way = Way::whole;
  int64_t slices = 0;         // of the case
  int64_t few = 0, many = 0;  // few_and_many
  int64_t at_once = 0;        // waves
  double accesses = 0;        // that are simulated
};

SimulationPlan plan_simulation(const Case& c, const DeviceProfile& device,
                               const std::vector<Step>& timed_steps, const PredictLimits& limits);

// Why a plan is beyond `limits`, as a sentence with an estimate of the time; empty: it is not.
std::string too_long(const SimulationPlan& plan, const PredictLimits& limits);

}  // namespace attnprof
