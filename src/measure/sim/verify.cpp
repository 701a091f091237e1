#include <fmt/format.h>

#include <span>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/overloaded.hpp"
#include "base/parallel.hpp"
#include "measure/sim/phases.hpp"
#include "model/numeric_machine.hpp"
#include "plan/seed.hpp"
#include "schedule/tiling.hpp"
#include "verify/reference.hpp"

namespace attnprof::sim {
namespace {

constexpr size_t verify_threads = 2;

// False where a step cannot be carried out on the host.
bool run_step(const Step& step, NumericMachine& machine, const Deadline& deadline) {
  if (step.schedule.run) {
    for_each_in_parallel(step.schedule.ctas, verify_threads, [&](int64_t cta) {
      deadline.check();
      step.schedule.run(cta, machine);
    });
    return true;
  }
  return std::visit(overloaded{[](const KernelLaunch&) { return false; },  // without a schedule
                               [](const GemmLaunch&) { return false; },
                               [&](const MemsetLaunch& memset) {
                                 machine.fill(memset);
                                 return true;
                               },
                               [](const PluginLaunch&) { return false; }},
                    step.launch);
}

std::span<const float> slice_of(const NumericMachine& machine, int operand, int64_t slice) {
  const Operand& shape = machine.operand(operand);
  return {machine.row(operand, slice, 0), static_cast<size_t>(shape.rows * shape.row_pitch)};
}

HeadScales scales_of(const Problem& p, const NumericMachine& machine, int64_t slice) {
  if (p.dtype != Dtype::fp8) return {};
  const int64_t kv = kv_slice(p, slice);
  return {*machine.row(operand_q_scale, slice, 0), *machine.row(operand_k_scale, kv, 0),
          *machine.row(operand_v_scale, kv, 0)};
}

// Operands are fp32 on the host.
double host_bytes(const std::vector<Operand>& operands) {
  double bytes = 0;
  for (const Operand& operand : operands) bytes += 4.0 * static_cast<double>(operand.elements());
  return bytes;
}

Verification compare(const Problem& p, const NumericMachine& machine, uint64_t seed, bool full,
                     const Deadline& deadline) {
  const auto d = static_cast<size_t>(p.head_dim);
  ErrorMeter meter(p.head_dim);
  for (const SampledRow& sample : rows_to_verify(p, seed, full)) {
    deadline.check();
    const int64_t kv = kv_slice(p, sample.slice);
    const std::vector<double> expected =
        reference_row(p, sample.row, {machine.row(operand_q, sample.slice, sample.row), d},
                      slice_of(machine, operand_k, kv), slice_of(machine, operand_v, kv),
                      scales_of(p, machine, sample.slice));
    meter.add(expected, {machine.row(operand_o, sample.slice, sample.row), d});
  }
  return meter.verdict(p.dtype);
}

}  // namespace

Verification verify(const Case& c, const MeasureOptions& options) {
  Verification unchecked;
  unchecked.verified = "unchecked";
  const Problem& p = c.problem;
  if (options.verify == VerifyMode::off || useful_flops(p) > max_verified_flops) return unchecked;
  if (host_bytes(c.operands) > max_verified_bytes) return unchecked;
  const uint64_t seed = case_seed(c, options.seed);
  const Deadline deadline(options.case_timeout_s);
  try {
    NumericMachine machine(c.operands, {seed, options.input});
    for (const Step& step : c.steps)
      if (!run_step(step, machine, deadline)) return unchecked;
    return compare(p, machine, seed, options.verify == VerifyMode::full, deadline);
  } catch (const OutOfTime&) {
    throw CaseFailed(
        fmt::format("verifying it took more than --case-timeout {:g} s of processor time and was ended; "
                    "--verify off leaves it out",
                    options.case_timeout_s));
  }
}

}  // namespace attnprof::sim
