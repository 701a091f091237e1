#include "model/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/simulate.hpp"
#include "model/simulation_plan.hpp"
#include "problem/equal_parts.hpp"
#include "problem/flops.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {
namespace {

// What a step does and moves, but for its blocks: what adds up over launches and parts of a case.
constexpr std::array summed = {&StepPrediction::sm_read_bytes,      &StepPrediction::sm_write_bytes,
                               &StepPrediction::intermediate_bytes, &StepPrediction::hbm_read_bytes,
                               &StepPrediction::hbm_write_bytes,    &StepPrediction::tensor_flops,
                               &StepPrediction::fma_flops,          &StepPrediction::exponentials};

// a + factor * (b - a), figure by figure.
Simulation extrapolated(Simulation a, const Simulation& b, double factor) {
  const auto carry = [factor](double& from, double to) { from += factor * (to - from); };
  for (size_t i = 0; i < a.steps.size(); ++i) {
    StepPrediction& s = a.steps[i];
    const StepPrediction& t = b.steps[i];
    s.ctas += std::llround(factor * static_cast<double>(t.ctas - s.ctas));
    for (const auto amount : summed) carry(s.*amount, t.*amount);
  }
  carry(a.settled_write_bytes, b.settled_write_bytes);
  return a;
}

// `times` alike launches of a part, one after another: what one leaves dirty is written while the next runs.
void add_waves(Simulation& all, const Simulation& wave, double times) {
  if (all.steps.empty()) {
    all = wave;
    times -= 1;
  }
  StepPrediction& s = all.steps.front();
  StepPrediction t = wave.steps.front();
  t.hbm_write_bytes += wave.settled_write_bytes;
  s.ctas += std::llround(times * static_cast<double>(t.ctas));
  for (const auto amount : summed) s.*amount += times * (t.*amount);
}

// A case as its plan says.
class Simulator {
 public:
  Simulator(const Case& c, const DeviceProfile& device, const PredictLimits& limits)
      : case_(c), device_(device), limits_(limits), deadline_(limits.seconds) {}

  Simulation run(const SimulationPlan& plan) const {
    switch (plan.way) {
      case SimulationPlan::Way::whole:
        return simulate({case_, 1}, device_, limits_, deadline_);
      case SimulationPlan::Way::one_for_all:
        return first(1, static_cast<double>(plan.slices));
      case SimulationPlan::Way::few_and_many:
        return extrapolated(
            first(plan.few), first(plan.many),
            static_cast<double>(plan.slices - plan.few) / static_cast<double>(plan.many - plan.few));
      case SimulationPlan::Way::waves:
        return waves(plan);
    }
    return {};
  }

 private:
  Simulation first(int64_t slices, double copies = 1) const {
    return simulate({first_slices(case_, slices, device_), copies}, device_, limits_, deadline_);
  }

  // Also where the cache is warm: between a wave and its like of the launch before lie all the other waves.
  Simulation waves(const SimulationPlan& plan) const {
    const int64_t at_once = std::min(plan.at_once, plan.slices), rest = plan.slices % at_once;
    Case slice = first_slices(case_, 1, device_);
    slice.cache = CacheState::cold;
    const auto wave = [&](int64_t slices) {
      return simulate({slice, static_cast<double>(slices)}, device_, limits_, deadline_);
    };
    Simulation all;
    add_waves(all, wave(at_once), static_cast<double>(plan.slices / at_once));
    if (rest > 0) add_waves(all, wave(rest), 1);
    return all;
  }

  const Case& case_;
  const DeviceProfile& device_;
  const PredictLimits& limits_;
  Deadline deadline_;
};

Model problem_model(const Problem& p) {
  Model model;
  model.io_lower_bound_bytes = io_lower_bound_bytes(p);
  model.useful_flops = useful_flops(p);
  model.half_square_flops = half_square_flops(p);
  return model;
}

void fill_model(Prediction& prediction) {
  double sm = 0, intermediate = 0, hbm = prediction.settled_write_bytes, tensor = 0;
  bool exact = true;
  for (const StepPrediction& step : prediction.steps) {
    sm += step.sm_read_bytes + step.sm_write_bytes;
    intermediate += step.intermediate_bytes;
    hbm += step.hbm_read_bytes + step.hbm_write_bytes;
    tensor += step.tensor_flops;
    exact &= step.exact;
  }
  prediction.model.intermediate_bytes = std::llround(intermediate);
  prediction.model.hbm_bytes = std::llround(hbm);
  if (!exact) return;
  prediction.model.sm_bytes = std::llround(sm);
  prediction.model.tensor_flops = std::llround(tensor);
}

void take_stated(const StatedModel& stated, Model& model) {
  model.sm_bytes = stated.sm_bytes;
  model.intermediate_bytes = stated.intermediate_bytes;
  model.hbm_bytes = stated.hbm_bytes;
  model.tensor_flops = stated.tensor_flops;
}

// Everything a prediction depends on.
std::string key_of(const Case& c, const DeviceProfile& d, const PredictLimits& limits) {
  std::string key = fmt::format(
      "{} {} {}x{} {} {} {} | {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<const void*>(c.variant),
      problem_key(c.problem), c.tile.br, c.tile.bc, to_string(c.tile.knobs), to_string(c.cache), d.name,
      d.sms, d.smem_per_sm_bytes, d.smem_per_block_bytes, d.registers_per_sm, d.max_threads_per_sm,
      d.max_ctas_per_sm, d.l2_bytes, d.l2_dirty_bytes, d.l2_shared_room, limits.accesses, limits.chunks,
      limits.most_accesses, limits.host_bytes, limits.seconds);
  for (const L2Point& point : d.l2_curve) key += fmt::format(" {}:{}", point.mebibytes, point.miss_share);
  return key;
}

NotSimulated memory_is_short(double bytes, const PredictLimits& limits) {
  return {fmt::format(
              "its simulation takes {:.2g} GB of this machine's memory, and {:.2g} GB are the most that it "
              "may; give smaller sizes",
              bytes / 1e9, limits.host_bytes / 1e9),
          false};
}

NotSimulated time_is_up(const PredictLimits& limits) {
  return {fmt::format("its simulation took more than --case-timeout {:g} s of processor time and was ended",
                      limits.seconds),
          true};
}

// Fills in the steps and the model, or why they cannot be known.
void simulate_within(const PredictLimits& limits, const Case& c, const DeviceProfile& device,
                     const SimulationPlan& plan, Prediction& prediction) {
  if (std::string why = too_long(plan, limits); !why.empty()) {
    prediction.not_simulated = {std::move(why), false};
    return;
  }
  try {
    Simulation simulation = Simulator(c, device, limits).run(plan);
    prediction.steps = std::move(simulation.steps);
    prediction.settled_write_bytes = simulation.settled_write_bytes;
    fill_model(prediction);
  } catch (const TooMuchMemory& much) {
    prediction.not_simulated = memory_is_short(much.bytes, limits);
  } catch (const OutOfTime&) {
    prediction.not_simulated = time_is_up(limits);
  }
}

// Of a case whose sequences are of one length.
Prediction run_alike(const Case& c, const DeviceProfile& device, const PredictLimits& limits) {
  Prediction prediction{.model = problem_model(c.problem), .steps = {}};
  const std::vector<Step> steps = timed_steps(c);
  prediction.scheduled = !steps.empty() && std::ranges::all_of(steps, [](const Step& step) {
    return static_cast<bool>(step.schedule.run);
  });
  if (!prediction.scheduled) {
    if (c.variant->stated_model) take_stated(c.variant->stated_model(c.problem, device), prediction.model);
    return prediction;
  }
  simulate_within(limits, c, device, plan_simulation(c, device, steps, limits), prediction);
  return prediction;
}

// What the sequences of another length do, in the same launches.
void add_part(Prediction& all, const Prediction& part) {
  if (all.steps.empty()) all.steps.resize(part.steps.size());
  for (size_t i = 0; i < part.steps.size(); ++i) {
    StepPrediction sum = part.steps[i];
    const StepPrediction& before = all.steps[i];
    sum.ctas += before.ctas;
    for (const auto amount : summed) sum.*amount += before.*amount;
    all.steps[i] = std::move(sum);
  }
  all.settled_write_bytes += part.settled_write_bytes;
}

// Sequences of unequal length are simulated length by length, none beside one of another.
Prediction run(const Case& c, const DeviceProfile& device, const PredictLimits& limits) {
  const std::vector<Problem> parts = equal_parts(c.problem);
  if (parts.size() == 1 && parts.front() == c.problem) return run_alike(c, device, limits);
  Prediction all{.model = problem_model(c.problem), .steps = {}};
  for (const Problem& problem : parts) {
    Case part = c;
    part.problem = problem;
    set_launches(part, device);
    const Prediction of_part = run_alike(part, device, limits);
    if (!of_part.scheduled || of_part.not_simulated) {
      all.scheduled = of_part.scheduled, all.not_simulated = of_part.not_simulated;
      all.steps.clear();
      return all;
    }
    add_part(all, of_part);
  }
  fill_model(all);
  return all;
}

}  // namespace

Prediction predict_steps(const Case& c, const DeviceProfile& device, const PredictLimits& limits) {
  thread_local std::string last_key;
  thread_local Prediction last;
  std::string key = key_of(c, device, limits);
  if (key != last_key) {
    last = run(c, device, limits);
    last_key = std::move(key);
  }
  return last;
}

}  // namespace attnprof
