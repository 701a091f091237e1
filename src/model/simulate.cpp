#include "model/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/chunk_grid.hpp"
#include "model/counting_machine.hpp"
#include "model/l2_model.hpp"
#include "model/wave.hpp"
#include "schedule/occupancy.hpp"

namespace attnprof {
namespace {

// The accesses of a first, a middle and a last block of every step: the tiles the case uses.
std::vector<Access> sample_accesses(const std::vector<Step>& steps, const std::vector<Operand>& operands) {
  std::vector<Access> samples;
  CountingMachine machine(operands);
  for (const Step& step : steps)
    for (int64_t cta : {int64_t{0}, step.schedule.ctas / 2, step.schedule.ctas - 1}) {
      std::vector<Access> trace;
      machine.record_into(&trace);
      if (step.schedule.ctas > 0) step.schedule.run(cta, machine);
      constexpr size_t enough = 4096;
      trace.resize(std::min(trace.size(), enough), {});
      samples.insert(samples.end(), trace.begin(), trace.end());
    }
  return samples;
}

class DeviceRun {
 public:
  DeviceRun(const Part& part, const DeviceProfile& device, int64_t max_chunks)
      : device_(device),
        copies_(part.copies),
        dtype_(part.c.problem.dtype),
        operands_(case_operands(*part.c.variant, part.c.problem, part.c.tile)),
        steps_(timed_steps(part.c, device)),
        grid_(operands_, sample_accesses(steps_, operands_), max_chunks),
        l2_(device, grid_.chunk_bytes(), part.copies) {}

  Simulation run() {
    Simulation result;
    for (const Step& step : steps_) result.steps.push_back(run_step(step));
    const double before = l2_.traffic().write_bytes;
    l2_.settle();
    result.settled_write_bytes = (l2_.traffic().write_bytes - before) * copies_;
    return result;
  }

 private:
  StepPrediction run_step(const Step& step) {
    const int per_sm = std::max(1, resident_ctas_per_sm(block_needs(step, device_), device_));
    const auto resident = static_cast<int64_t>(std::ceil(per_sm * device_.sms / copies_));
    const HbmTraffic before = l2_.traffic();
    CountingMachine machine(operands_);
    run_in_waves(step.schedule, resident, machine, [this](const Access& access, SlotIndex slot) {
      // Blocks are dealt to the SMs in turn.
      const L2Model::Reader reader = slot == several_slots ? L2Model::several : slot % device_.sms;
      grid_.for_each(access, [this, &access, reader](uint32_t chunk, uint32_t bytes) {
        access.write ? l2_.write(chunk, bytes) : l2_.read(chunk, bytes, reader);
      });
    });
    const HbmTraffic after = l2_.traffic();
    const SmTraffic& sm = machine.traffic();
    return {.name = step.name,
            .exact = step.schedule.exact,
            .ctas = std::llround(static_cast<double>(step.schedule.ctas) * copies_),
            .resident_ctas_per_sm = per_sm,
            .sm_read_bytes = static_cast<double>(sm.read_bytes) * copies_,
            .sm_write_bytes = static_cast<double>(sm.write_bytes) * copies_,
            .intermediate_bytes = static_cast<double>(sm.intermediate_bytes) * copies_,
            .hbm_read_bytes = (after.read_bytes - before.read_bytes) * copies_,
            .hbm_write_bytes = (after.write_bytes - before.write_bytes) * copies_,
            .tensor_flops = static_cast<double>(sm.tensor_flops) * copies_,
            .tensor_dtype = dtype_,
            .fma_flops = static_cast<double>(sm.fma_flops) * copies_,
            .exponentials = static_cast<double>(sm.exponentials) * copies_};
  }

  const DeviceProfile& device_;
  double copies_;
  Dtype dtype_;
  std::vector<Operand> operands_;
  std::vector<Step> steps_;
  ChunkGrid grid_;
  L2Model l2_;
};

}  // namespace

std::vector<Step> timed_steps(const Case& c, const DeviceProfile& device) {
  std::vector<Step> steps = c.variant->steps(c.problem, c.tile, device);
  std::erase_if(steps, [](const Step& step) { return !step.timed; });
  return steps;
}

Case first_slices(const Case& c, int64_t kv_slices) {
  Case part = c;
  part.problem.batch = 1;
  part.problem.kv_heads = kv_slices;
  part.problem.heads = kv_slices * c.problem.group();
  return part;
}

Simulation simulate(const Part& part, const DeviceProfile& device, int64_t max_chunks) {
  DeviceRun device_run(part, device, max_chunks);
  if (part.c.cache == CacheState::warm) device_run.run();
  return device_run.run();
}

}  // namespace attnprof
