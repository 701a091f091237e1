#include "model/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/block_traces.hpp"
#include "model/chunk_grid.hpp"
#include "model/counting_machine.hpp"
#include "model/l2_model.hpp"
#include "model/wave.hpp"
#include "schedule/occupancy.hpp"

namespace attnprof {
namespace {

// The first accesses of one block.
std::vector<Access> sample_block(const Step& step, int64_t cta, CountingMachine& machine) {
  constexpr size_t enough = 4096;
  struct Enough {};
  std::vector<Access> trace;
  machine.record_into(&trace);
  machine.call_every(enough, [&trace] {
    if (trace.size() >= enough) throw Enough{};
  });
  try {
    step.schedule.run(cta, machine);
  } catch (const Enough&) {
  }
  trace.resize(std::min(trace.size(), enough), {});
  return trace;
}

// Of a step: the accesses of a first, a middle and a last block, which say what tiles it uses.
struct StepSamples {
  std::vector<Access> accesses;
  int64_t longest = 0;  // of the blocks
};

StepSamples sample_step(const Step& step, const OperandList& operands) {
  StepSamples samples;
  CountingMachine machine(operands);
  for (int64_t cta : {int64_t{0}, step.schedule.ctas / 2, step.schedule.ctas - 1}) {
    if (step.schedule.ctas == 0) continue;
    const std::vector<Access> trace = sample_block(step, cta, machine);
    samples.accesses.insert(samples.accesses.end(), trace.begin(), trace.end());
    samples.longest = std::max<int64_t>(samples.longest, std::ssize(trace));
  }
  return samples;
}

class DeviceRun {
 public:
  DeviceRun(const Part& part, const DeviceProfile& device, const PredictLimits& limits,
            const Deadline& deadline)
      : device_(device),
        deadline_(deadline),
        copies_(part.copies),
        dtype_(part.c.problem.dtype),
        operands_(part.c.operands),
        steps_(timed_steps(part.c)),
        grid_(operands_, sample_all(), limits.chunks),
        l2_(device, affordable(grid_, limits).chunk_bytes(), part.copies) {}

  Simulation run() {
    Simulation result;
    for (const Step& step : steps_) result.steps.push_back(run_step(step));
    const double before = l2_.traffic().write_bytes;
    l2_.settle();
    result.settled_write_bytes = (l2_.traffic().write_bytes - before) * copies_;
    return result;
  }

 private:
  int resident_per_sm(const Step& step) const {
    return std::max(1, resident_ctas_per_sm(block_needs(step, device_), device_));
  }
  int64_t resident_blocks(const Step& step) const {
    return static_cast<int64_t>(std::ceil(resident_per_sm(step) * device_.sms / copies_));
  }

  std::vector<Access> sample_all() {
    std::vector<Access> all;
    for (const Step& step : steps_) {
      const StepSamples samples = sample_step(step, operands_);
      all.insert(all.end(), samples.accesses.begin(), samples.accesses.end());
      const int64_t slots = std::min(resident_blocks(step), step.schedule.ctas);
      slots_bytes_ = std::max(slots_bytes_, static_cast<double>(slots) * slot_host_bytes(samples.longest));
    }
    return all;
  }

  // Before the chunks are made.
  const ChunkGrid& affordable(const ChunkGrid& grid, const PredictLimits& limits) const {
    const double bytes = L2Model::host_bytes(grid.size()) + slots_bytes_;
    if (bytes > limits.host_bytes) throw TooMuchMemory{bytes};
    return grid;
  }

  StepPrediction run_step(const Step& step) {
    const int per_sm = resident_per_sm(step);
    const int64_t resident = resident_blocks(step);
    const HbmTraffic before = l2_.traffic();
    CountingMachine machine(operands_);
    run_in_waves(step.schedule, resident, machine, deadline_, [this](const Access& access, SlotIndex slot) {
      // Blocks are dealt to the SMs in turn.
      const L2Model::Reader reader = slot == several_slots ? L2Model::several : slot % device_.sms;
      grid_.for_each(access, [this, &access, reader](uint32_t chunk, uint32_t bytes) {
        switch (access.kind) {
          case AccessKind::read:
            return l2_.read(chunk, bytes, reader);
          case AccessKind::write:
            return l2_.write(chunk, bytes);
          case AccessKind::reduce:
            return l2_.reduce(chunk, bytes, reader);
        }
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
  const Deadline& deadline_;
  double slots_bytes_ = 0;  // of the host's memory
  double copies_;
  Dtype dtype_;
  const OperandList& operands_;
  std::vector<Step> steps_;
  ChunkGrid grid_;
  L2Model l2_;
};

}  // namespace

Case first_slices(const Case& c, int64_t kv_slices, const DeviceProfile& device) {
  Case part = c;
  part.problem.batch = 1;
  part.problem.kv_heads = kv_slices;
  part.problem.heads = kv_slices * c.problem.group();
  set_launches(part, device);
  return part;
}

Simulation simulate(const Part& part, const DeviceProfile& device, const PredictLimits& limits,
                    const Deadline& deadline) {
  DeviceRun device_run(part, device, limits, deadline);
  if (part.c.cache == CacheState::warm) device_run.run();
  return device_run.run();
}

}  // namespace attnprof
