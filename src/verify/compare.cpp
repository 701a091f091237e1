#include "verify/compare.hpp"

#include "verify/sampling.hpp"
#include "verify/verdict.hpp"

namespace attnprof {

Verification compare_on_host(const Problem& problem, const OperandValues& values, uint64_t seed, bool full,
                             const std::function<void()>& before_row) {
  const PassSpec& pass = pass_spec(problem.pass);
  const OperandList all = operands(problem);
  const auto reference = make_reference(problem, values);
  std::vector<CheckedOutput> outputs;
  for (const PassOutput& output : pass.outputs) {
    const Operand& operand = all[output.operand];
    ErrorMeter meter(operand.cols, output.rows_may_vanish);
    for (const SampledRow& at : rows_to_verify(operand, seed, full)) {
      before_row();
      meter.add(reference->row(output.operand, at.slice, at.row),
                values.rows(output.operand, at.slice, at.row, 1).first(static_cast<size_t>(operand.cols)));
    }
    outputs.push_back({operand.name, output.tolerance(problem.dtype), meter});
  }
  return verdict(problem, outputs);
}

}  // namespace attnprof
