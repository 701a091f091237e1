#include "model/time_model.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "model/counting_machine.hpp"
#include "model/launch_time.hpp"
#include "model/simulate.hpp"
#include "model/step_time.hpp"
#include "schedule/occupancy.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Of the tensor cores' rate at the row's clock, in the products of a kernel, as it was fitted with to the
// H200's rows: mma.sync 0.308 of the 0.348 TFLOP/s a MHz that its ceiling is, wgmma 0.500 of 0.540
// (device/rates.cpp).
constexpr double achieved_mma = 0.887, achieved_wgmma = 0.924;
// Of the tensor cores' rate so achieved (or of the FMA pipes' peak), by a library's product; the H200's
// `standard` rows.
constexpr double library_share = 0.75;
// A warp's own loads wait longer where they come from device memory: by this much if all do (flash1's rows).
constexpr double from_hbm = 0.675;
// Of L2's rate, in bytes that L2 serves (not those that arrive at the SMs, which the rate is of), by launches
// that mix reads, writes and misses (the H200's `standard` rows).
constexpr double achieved_l2 = 0.5;

// What one SM does in a ns.
struct SmRates {
  double tensor_flops, fma_flops, exponentials, smem_bytes, direct_bytes;
  double cycle_ns;
};

SmRates sm_rates(const DeviceProfile& device, const Rates& rates, ProductUnit unit) {
  const double sms = device.sms, ghz = device.sm_clock_mhz / 1e3;
  const double achieved = unit == ProductUnit::mma ? achieved_mma : achieved_wgmma;
  return {.tensor_flops = achieved * rates.tensor(unit).value * 1e3 / sms,
          .fma_flops = rates.fma.value * 1e3 / sms,
          .exponentials = rates.exp.value / sms,
          .smem_bytes = rates.smem.value / sms,
          .direct_bytes = sm_link_bytes * ghz,
          .cycle_ns = 1 / ghz};
}

// ns that a launch of no schedule of ours waits for its first loads and last stores (the H200's `standard`
// rows).
constexpr double ramp_ns = 1500;

double time_of(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

// wgmma reads shared memory as part of its product.
BlockTime time_of_block(const SmTraffic& done, const Step& step, const SmRates& rates, double hbm_share,
                        int warps) {
  const double products = time_of(static_cast<double>(done.tensor_flops), rates.tensor_flops) +
                          time_of(static_cast<double>(done.fma_flops), rates.fma_flops);
  if (step.pace.unit == ProductUnit::library) return {0, products / library_share};
  const bool smem_apart = step.pace.unit != ProductUnit::wgmma;
  const double work =
      products + time_of(static_cast<double>(done.exponentials), rates.exponentials) +
      (smem_apart ? time_of(static_cast<double>(done.smem_bytes), rates.smem_bytes) : 0) +
      time_of(static_cast<double>(done.direct_bytes), rates.direct_bytes) * (1 + from_hbm * hbm_share);
  return block_time({static_cast<double>(done.rounds), work}, step.pace.round_cycles * rates.cycle_ns, warps);
}

SmTraffic less(const SmTraffic& after, const SmTraffic& before) {
  SmTraffic done;
  done.tensor_flops = after.tensor_flops - before.tensor_flops;
  done.fma_flops = after.fma_flops - before.fma_flops;
  done.exponentials = after.exponentials - before.exponentials;
  done.smem_bytes = after.smem_bytes - before.smem_bytes;
  done.direct_bytes = after.direct_bytes - before.direct_bytes;
  done.rounds = after.rounds - before.rounds;
  return done;
}

// A step of one slice, run.
struct Ran {
  SmTraffic traffic;
  std::vector<SmTraffic> blocks;  // that do anything
  double footprint = 0;           // bytes of the operands it touches
};

Ran run(const Step& step, const OperandList& operands) {
  Ran ran;
  CountingMachine machine(operands);
  std::vector<Access> trace;
  std::set<OperandId> touched;
  machine.record_into(&trace);
  for (int64_t cta = 0; cta < step.schedule.ctas; ++cta) {
    const SmTraffic before = machine.traffic();
    step.schedule.run(cta, machine);
    if (machine.traffic().accesses > before.accesses) ran.blocks.push_back(less(machine.traffic(), before));
    for (const Access& access : trace) touched.insert(access.operand);
    trace.clear();
  }
  ran.traffic = machine.traffic();
  for (const OperandId operand : touched) ran.footprint += static_cast<double>(operands[operand].bytes());
  return ran;
}

double sm_bytes(const SmTraffic& traffic) {
  return static_cast<double>(traffic.read_bytes + traffic.write_bytes);
}

int warps_of(const Step& step, const DeviceProfile& device) {
  return step.pace.warps > 0 ? step.pace.warps : block_needs(step, device).threads / 32;
}

void add(ScheduleAmounts& amounts, const Step& step, const SmTraffic& traffic, double slices) {
  amounts.tensor_flops += static_cast<double>(traffic.tensor_flops) * slices;
  amounts.fma_flops += static_cast<double>(traffic.fma_flops) * slices;
  amounts.exponentials += static_cast<double>(traffic.exponentials) * slices;
  amounts.smem_bytes += static_cast<double>(traffic.smem_bytes) * slices;
  amounts.sm_bytes += sm_bytes(traffic) * slices;
  amounts.exact &= step.schedule.exact;
  if (step.pace.unit != ProductUnit::none) amounts.unit = step.pace.unit;
}

// Bytes that all steps move, of which HBM's are shared out by what each touches.
struct Memory {
  double l2_share;  // of the schedule's bytes at the SMs
  double hbm_bytes, footprint;
};

StepTime step_time(const Step& step, const Ran& ran, const Memory& memory, const DeviceProfile& device,
                   const Rates& rates, int64_t slices) {
  const double bytes = sm_bytes(ran.traffic) * static_cast<double>(slices);
  const double hbm = memory.footprint > 0 ? memory.hbm_bytes * ran.footprint / memory.footprint : 0;
  StepTime time{.name = step.name};
  time.memory_ns = std::max(time_of(hbm, rates.hbm_read.value),
                            time_of(bytes * memory.l2_share, achieved_l2 * rates.l2.value));
  const SmRates sm = sm_rates(device, rates, step.pace.unit);
  const int warps = warps_of(step, device);
  std::vector<BlockTime> blocks;
  for (const SmTraffic& block : ran.blocks)
    blocks.push_back(time_of_block(block, step, sm, bytes > 0 ? std::min(1.0, hbm / bytes) : 0, warps));
  time.blocks = static_cast<int64_t>(blocks.size()) * slices;
  time.resident = std::max(1, resident_ctas_per_sm(block_needs(step, device), device));
  const LaunchTime launch = launch_time(blocks, slices, time.resident, device.sms);
  time.sm_ns = launch.ns, time.even_ns = launch.even_ns;
  return time;
}

// Pairs of a Q and a K, V tile in a slice beyond which its schedule would take seconds.
constexpr double most_tile_pairs = 8e6;

bool too_large(const Case& c) {
  constexpr int64_t assumed = 128;  // of a library's product
  const auto tiles = [](int64_t length, int64_t side) {
    return static_cast<double>(ceil_div(length, side > 0 ? side : assumed));
  };
  return tiles(c.problem.q_len, c.tile.br) * tiles(c.problem.kv_len, c.tile.bc) *
             static_cast<double>(c.problem.group()) >
         most_tile_pairs;
}

bool has_schedule(const std::vector<Step>& steps) {
  return !steps.empty() &&
         std::ranges::all_of(steps, [](const Step& step) { return static_cast<bool>(step.schedule.run); });
}

}  // namespace

double TimeModel::ns() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const StepTime& step) { return sum + step.ns(); });
}

const StepTime& TimeModel::longest() const { return *std::ranges::max_element(steps, {}, &StepTime::ns); }

std::optional<double> TimeModel::idle_share() const {
  double busy = 0, even = 0;
  for (const StepTime& step : steps)
    if (step.sm_ns >= step.memory_ns) busy += step.sm_ns, even += step.even_ns;
  return busy > 0 ? std::optional(1 - even / busy) : std::nullopt;
}

std::optional<TimeModel> model_time(const Case& c, const DeviceProfile& device, const Rates& rates,
                                    const MemoryShares& shares) {
  if (device.sms < 1 || device.sm_clock_mhz <= 0 || too_large(c)) return std::nullopt;
  const Case part = first_slices(c, 1, device);
  const std::vector<Step> steps = timed_steps(part);
  if (!has_schedule(steps)) return std::nullopt;
  const OperandList& operands = part.operands;
  const int64_t slices = c.problem.batch * c.problem.kv_heads;
  std::vector<Ran> ran;
  TimeModel model;
  Memory memory{shares.l2, 0, 0};
  for (const Step& step : steps) {
    ran.push_back(run(step, operands));
    memory.footprint += ran.back().footprint;
    add(model.amounts, step, ran.back().traffic, static_cast<double>(slices));
  }
  if (!model.amounts.exact && shares.sm_bytes && model.amounts.sm_bytes > 0) {
    memory.l2_share *= *shares.sm_bytes / model.amounts.sm_bytes;
    model.amounts.sm_bytes = *shares.sm_bytes;
  }
  memory.hbm_bytes = shares.hbm.value_or(0) * model.amounts.sm_bytes;
  for (size_t i = 0; i < steps.size(); ++i) {
    model.steps.push_back(step_time(steps[i], ran[i], memory, device, rates, slices));
    model.steps.back().fixed_ns = (i == 0 ? rates.floor_ns.value : rates.launch_ns.value) +
                                  (steps[i].pace.round_cycles > 0 ? 0 : ramp_ns);
  }
  return model;
}

}  // namespace attnprof
