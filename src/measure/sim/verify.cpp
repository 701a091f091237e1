#include <fmt/format.h>

#include "base/deadline.hpp"
#include "base/error.hpp"
#include "base/overloaded.hpp"
#include "base/parallel.hpp"
#include "measure/sim/phases.hpp"
#include "model/numeric_machine.hpp"
#include "plan/seed.hpp"
#include "problem/flops.hpp"
#include "verify/compare.hpp"

namespace attnprof::sim {
namespace {

constexpr size_t verify_threads = 2;

// False where a step cannot be carried out on the host.
bool run_step(const Step& step, NumericMachine& machine, const Deadline& deadline) {
  if (step.schedule.run) {
    const size_t threads = step.schedule.reduces ? 1 : verify_threads;
    for_each_in_parallel(step.schedule.ctas, threads, [&](int64_t cta) {
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

// Operands are fp32 on the host.
double host_bytes(const OperandList& operands) {
  double bytes = 0;
  for (const Operand& operand : operands) bytes += 4.0 * static_cast<double>(operand.elements());
  return bytes;
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
    return compare_on_host(p, machine, seed, options.verify == VerifyMode::full,
                           [&deadline] { deadline.check(); });
  } catch (const OutOfTime&) {
    throw CaseFailed(
        fmt::format("verifying it took more than --case-timeout {:g} s of processor time and was ended; "
                    "--verify off leaves it out",
                    options.case_timeout_s));
  }
}

}  // namespace attnprof::sim
