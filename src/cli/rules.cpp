#include "cli/rules.hpp"

#include <fmt/format.h>

#include "measure/backend.hpp"
#include "measure/timing_rule.hpp"
#include "problem/passes.hpp"
#include "verify/error_meter.hpp"
#include "verify/sampling.hpp"

namespace attnprof {

std::vector<std::vector<std::string>> rule_lines() {
  std::vector<std::vector<std::string>> lines = {{"rule", "value", "meaning"}};
  const auto add = [&](const std::string& rule, auto value, const std::string& meaning) {
    lines.push_back({rule, fmt::format("{}", value), meaning});
  };
  for (const PassSpec& pass : passes()) {
    const OperandList tensors = pass.operands({});
    for (const PassOutput& output : pass.outputs)
      for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
        // The forward pass's one output has the short name.
        add(&pass == passes().data() ? fmt::format("tolerance_{}", to_string(dtype))
                                     : fmt::format("tolerance_{}_{}_{}", pass.name,
                                                   tensors[output.operand].name, to_string(dtype)),
            output.tolerance(dtype), "largest rel_err of a right output");
  }
  add("row_slack", row_slack, "times the tolerance: what a single row may be off by");
  add("least_random_rows", least_random_rows,
      "random rows of each output checked, at least one a head, beside a first or last row of every head");
  add("samples_a_placement", samples_a_placement, "samples before operands and stream move");
  add("most_placements", most_placements, "places in device memory, and streams");
  add("samples_before_stopping", samples_before_stopping, "samples before --precision may end them");
  add("largest_batch", largest_batch, "samples between two looks at what is reached");
  add("warm_up_s", warm_up_s, "seconds of runs before the first sample");
  add("warm_up_runs", warm_up_runs, "runs before the first sample, at least");
  const MeasureOptions options;
  add("precision", options.precision,
      "--precision without it: half the median's 95 % interval over the median");
  add("max_time_s", options.max_time_s, "--max-time without it, seconds");
  return lines;
}

}  // namespace attnprof
