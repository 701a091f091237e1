#include "model/simulation_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.hpp"
#include "model/counting_machine.hpp"
#include "problem/flops.hpp"
#include "schedule/occupancy.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// A block beyond this is not run to its end for an estimate. Well above PredictLimits::accesses, so that a
// case with such a block is large whatever is estimated of it.
constexpr int64_t most_sampled = 16'000'000;

// What a simulated access takes on one core, about; between 10 and 30 where it was measured.
constexpr double ns_per_access = 20;

struct Cut {};  // thrown out of a block that is longer than most_sampled

// The accesses of the whole case, when a block was cut: they grow with its products, of which it had done a
// share.
double from_a_part(const SmTraffic& part, const Problem& problem, const Step& step) {
  const auto accesses = static_cast<double>(part.accesses);
  const auto products = static_cast<double>(part.tensor_flops + part.fma_flops);
  if (products == 0) return accesses * static_cast<double>(step.schedule.ctas);
  return accesses * std::max(1.0, static_cast<double>(useful_flops(problem)) / products);
}

// Of one step, from a few of its blocks.
double estimated_accesses(const Step& step, const Problem& problem, const OperandList& operands) {
  constexpr int64_t samples = 8;
  double accesses = 0;
  const int64_t runs = std::min(samples, step.schedule.ctas);
  for (int64_t i = 0; i < runs; ++i) {
    CountingMachine machine(operands);
    machine.call_every(most_sampled, [] { throw Cut{}; });
    try {
      step.schedule.run(step.schedule.ctas / runs * i + step.schedule.ctas % runs * i / runs, machine);
    } catch (const Cut&) {
      return from_a_part(machine.traffic(), problem, step);
    }
    accesses += static_cast<double>(machine.traffic().accesses);
  }
  return runs > 0 ? accesses / static_cast<double>(runs) * static_cast<double>(step.schedule.ctas) : 0;
}

int64_t estimated_accesses(const std::vector<Step>& steps, const Problem& problem,
                           const OperandList& operands) {
  double accesses = 0;
  for (const Step& step : steps) accesses += estimated_accesses(step, problem, operands);
  return accesses < 9e18 ? static_cast<int64_t>(accesses) : saturated;
}

int64_t resident_ctas(const Step& step, const DeviceProfile& device) {
  return int64_t{resident_ctas_per_sm(block_needs(step, device), device)} * device.sms;
}

bool all_blocks_are_resident(const std::vector<Step>& steps, const DeviceProfile& device) {
  return std::ranges::all_of(
      steps, [&](const Step& step) { return step.schedule.ctas <= resident_ctas(step, device); });
}

// kv heads after which the order of blocks repeats.
int64_t pattern_slices(const std::vector<Step>& steps) {
  int64_t pattern = 1;
  for (const Step& step : steps) pattern = std::max(pattern, step.schedule.kv_heads_together);
  return pattern;
}

// Slices from which on each further one adds the same: the first and the last wave, and what a launch leaves
// in L2 for the next, are then a small and constant part.
int64_t settled_slices(const std::vector<Step>& steps, const OperandList& operands, int64_t slices,
                       const DeviceProfile& device) {
  const int64_t slice_bytes = std::max<int64_t>(1, total_bytes(operands) / slices);
  int64_t enough = steps.size() > 1 ? ceil_div(4 * device.l2_bytes, slice_bytes) : 1;
  for (const Step& step : steps)
    enough = std::max(
        enough, ceil_div(2 * resident_ctas(step, device) * slices, std::max<int64_t>(1, step.schedule.ctas)));
  return std::max(enough, 2 * pattern_slices(steps));
}

// Warm is this operation having just run.
double times_run(const Case& c) { return c.cache == CacheState::warm ? 2 : 1; }

// Slices that are on the device at once; 0 where they do not come in waves: several launches, or blocks of a
// slice that do not all fit.
int64_t slices_at_once(const std::vector<Step>& steps, int64_t slices, const DeviceProfile& device) {
  if (steps.size() != 1 || pattern_slices(steps) > 1) return 0;
  const int64_t blocks = steps.front().schedule.ctas / slices;
  return blocks > 0 ? resident_ctas(steps.front(), device) / blocks : 0;
}

// Small cases are run whole. In a large one either all blocks are on the device at once and advance alike, or
// slices follow one another. Where even what that takes is too much, waves are taken to be alike.
SimulationPlan cheapest(const Case& c, const DeviceProfile& device, const std::vector<Step>& steps,
                        const OperandList& operands, const PredictLimits& limits) {
  using Way = SimulationPlan::Way;
  SimulationPlan plan{.way = Way::whole, .slices = c.problem.batch * c.problem.kv_heads};
  const int64_t accesses = estimated_accesses(steps, c.problem, operands);
  plan.accesses = static_cast<double>(accesses);
  if (accesses <= limits.accesses || plan.slices == 1) return plan;
  const double of_a_slice = plan.accesses / static_cast<double>(plan.slices);
  if (all_blocks_are_resident(steps, device)) {
    plan.way = Way::one_for_all, plan.accesses = of_a_slice;
    return plan;
  }
  const int64_t affordable = limits.accesses / std::max<int64_t>(1, accesses / plan.slices);
  const int64_t alike = settled_slices(steps, operands, plan.slices, device);
  plan.few = round_up(std::max(affordable / 3, alike), pattern_slices(steps));
  plan.many = 2 * plan.few;
  if (plan.few + plan.many < plan.slices) {
    plan.way = Way::few_and_many, plan.accesses = static_cast<double>(plan.few + plan.many) * of_a_slice;
  }
  plan.at_once = slices_at_once(steps, plan.slices, device);
  if (times_run(c) * plan.accesses > static_cast<double>(limits.most_accesses) && plan.at_once > 0)
    plan.way = Way::waves, plan.accesses = 2 * of_a_slice;
  return plan;
}

}  // namespace

SimulationPlan plan_simulation(const Case& c, const DeviceProfile& device,
                               const std::vector<Step>& timed_steps, const PredictLimits& limits) {
  SimulationPlan plan = cheapest(c, device, timed_steps, c.operands, limits);
  plan.accesses *= times_run(c);
  return plan;
}

std::string too_long(const SimulationPlan& plan, const PredictLimits& limits) {
  if (plan.accesses <= static_cast<double>(limits.most_accesses)) return "";
  return fmt::format(
      "its simulation is about {:.3g} tile accesses, {:.3g} s of one core, and {:.3g} are the most that are "
      "tried; give smaller sizes or larger tiles, or measure it with --backend gpu",
      plan.accesses, plan.accesses * ns_per_access * 1e-9, static_cast<double>(limits.most_accesses));
}

}  // namespace attnprof
