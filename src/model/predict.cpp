#include "model/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/counting_machine.hpp"
#include "model/simulate.hpp"
#include "schedule/occupancy.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Accesses of the whole case, from a few blocks of every step.
int64_t estimated_accesses(const std::vector<Step>& steps, const std::vector<Operand>& operands) {
  constexpr int64_t samples = 8;
  double accesses = 0;
  for (const Step& step : steps) {
    CountingMachine machine(operands);
    const int64_t runs = std::min(samples, step.schedule.ctas);
    for (int64_t i = 0; i < runs; ++i) step.schedule.run(i * step.schedule.ctas / runs, machine);
    if (runs > 0)
      accesses += static_cast<double>(machine.traffic().accesses) / static_cast<double>(runs) *
                  static_cast<double>(step.schedule.ctas);
  }
  return static_cast<int64_t>(accesses);
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
int64_t settled_slices(const std::vector<Step>& steps, const std::vector<Operand>& operands, int64_t slices,
                       const DeviceProfile& device) {
  const int64_t slice_bytes = std::max<int64_t>(1, total_bytes(operands) / slices);
  int64_t enough = steps.size() > 1 ? ceil_div(4 * device.l2_bytes, slice_bytes) : 1;
  for (const Step& step : steps)
    enough = std::max(
        enough, ceil_div(2 * resident_ctas(step, device) * slices, std::max<int64_t>(1, step.schedule.ctas)));
  return std::max(enough, 2 * pattern_slices(steps));
}

// a + factor * (b - a), figure by figure.
Simulation extrapolated(Simulation a, const Simulation& b, double factor) {
  const auto carry = [factor](double& from, double to) { from += factor * (to - from); };
  for (size_t i = 0; i < a.steps.size(); ++i) {
    StepPrediction& s = a.steps[i];
    const StepPrediction& t = b.steps[i];
    s.ctas += std::llround(factor * static_cast<double>(t.ctas - s.ctas));
    carry(s.sm_read_bytes, t.sm_read_bytes);
    carry(s.sm_write_bytes, t.sm_write_bytes);
    carry(s.intermediate_bytes, t.intermediate_bytes);
    carry(s.hbm_read_bytes, t.hbm_read_bytes);
    carry(s.hbm_write_bytes, t.hbm_write_bytes);
    carry(s.tensor_flops, t.tensor_flops);
    carry(s.fma_flops, t.fma_flops);
    carry(s.exponentials, t.exponentials);
  }
  carry(a.settled_write_bytes, b.settled_write_bytes);
  return a;
}

// Small cases are run whole. In a large one either all blocks are on the device at once and advance alike, so
// one slice stands for all, or slices follow one another, so what each further slice adds is the same.
Simulation simulate_case(const Case& c, const DeviceProfile& device, const std::vector<Step>& steps,
                         const std::vector<Operand>& operands, const PredictLimits& limits) {
  const int64_t slices = c.problem.batch * c.problem.kv_heads;
  const int64_t accesses = estimated_accesses(steps, operands);
  if (accesses <= limits.accesses || slices == 1) return simulate({c, 1}, device, limits.chunks);
  if (all_blocks_are_resident(steps, device))
    return simulate({first_slices(c, 1), static_cast<double>(slices)}, device, limits.chunks);
  const int64_t affordable = limits.accesses / std::max<int64_t>(1, accesses / slices);
  const int64_t alike = settled_slices(steps, operands, slices, device);
  const int64_t few = round_up(std::max(affordable / 3, alike), pattern_slices(steps));
  const int64_t many = 2 * few;
  if (few + many >= slices) return simulate({c, 1}, device, limits.chunks);
  const double factor = static_cast<double>(slices - few) / static_cast<double>(many - few);
  return extrapolated(simulate({first_slices(c, few), 1}, device, limits.chunks),
                      simulate({first_slices(c, many), 1}, device, limits.chunks), factor);
}

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
  std::string key =
      fmt::format("{} {} {} {} | {} {} {} {} {} {} {} {} {} {} {}", static_cast<const void*>(c.variant),
                  describe(c), to_string(c.tile.knobs), d.name, d.sms, d.smem_per_sm_bytes,
                  d.smem_per_block_bytes, d.registers_per_sm, d.max_threads_per_sm, d.max_ctas_per_sm,
                  d.l2_bytes, d.l2_dirty_bytes, d.l2_shared_room, limits.accesses, limits.chunks);
  for (const L2Point& point : d.l2_curve) key += fmt::format(" {}:{}", point.mebibytes, point.miss_share);
  return key;
}

Prediction run(const Case& c, const DeviceProfile& device, const PredictLimits& limits) {
  Prediction prediction{.model = problem_model(c.problem), .steps = {}};
  const std::vector<Step> steps = timed_steps(c, device);
  prediction.scheduled = !steps.empty() && std::ranges::all_of(steps, [](const Step& step) {
    return static_cast<bool>(step.schedule.run);
  });
  if (!prediction.scheduled) {
    if (c.variant->stated_model) take_stated(c.variant->stated_model(c.problem, device), prediction.model);
    return prediction;
  }
  const std::vector<Operand> operands = case_operands(*c.variant, c.problem, c.tile);
  Simulation simulation = simulate_case(c, device, steps, operands, limits);
  prediction.steps = std::move(simulation.steps);
  prediction.settled_write_bytes = simulation.settled_write_bytes;
  fill_model(prediction);
  return prediction;
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

Model predict(const Case& c, const DeviceProfile& device) { return predict_steps(c, device).model; }

}  // namespace attnprof
