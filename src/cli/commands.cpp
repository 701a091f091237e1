// The commands there are.
#include "cli/command.hpp"

namespace attnprof {

extern const CommandEntry sweep_entry, tune_entry, list_entry, compile_entry, resources_entry, doctor_entry,
    gate_entry, gate_pr_entry, baseline_entry, roofline_entry, explain_entry, published_entry, ceilings_entry,
    trace_entry, new_variant_entry, completion_entry, help_entry, plugin_host_entry, worker_entry,
    check_rows_entry;

const std::vector<const CommandEntry*>& commands() {
  static const std::vector<const CommandEntry*> all = {
      &sweep_entry, &tune_entry, &list_entry, &compile_entry, &resources_entry, &doctor_entry, &gate_entry,
      &gate_pr_entry, &baseline_entry, &roofline_entry, &explain_entry, &published_entry, &ceilings_entry,
      &trace_entry, &new_variant_entry, &completion_entry, &help_entry,
      // hidden
      &plugin_host_entry, &worker_entry, &check_rows_entry};
  return all;
}

}  // namespace attnprof
