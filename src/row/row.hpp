// A row: everything known of one case, in the groups of the schema (schema.hpp names and describes every
// column). An absent value is nullopt or an empty string and becomes an empty cell; never a zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "row/problem_cells.hpp"

namespace attnprof {

using Real = std::optional<double>;

// What the gate matches on; never empty.
struct Identity {
  std::string variant;
  ProblemCells problem;
  std::string tile, knobs, cache;

  // Of the problem, by the field's name.
  std::string& word(std::string_view field) { return problem.word(field); }
  const std::string& word(std::string_view field) const { return problem.word(field); }
  Count& count(std::string_view field) { return problem.count(field); }
  const Count& count(std::string_view field) const { return problem.count(field); }
};

struct Provenance {
  std::string schema, run, env_id, backend, device;
};

struct Resolved {
  Count br, bc;
  std::string knobs_used;
};

struct Status {
  std::string disposition;  // ok, skipped, incorrect, failed
  std::string reason;
  std::string flags;  // of Flag (schema.hpp), joined by ';'
};

struct Verification {
  std::string verified;  // yes, no, unchecked
  Real rel_err, max_abs_err;
  std::string reason = {};  // of `no`: a sentence, for Status::reason
};

struct Latency {
  std::string latency_source;  // cuda_events, model
  Real median_ns, min_ns, p90_ns, ci95_low_ns, ci95_high_ns;
  Count samples;
  Real drift_pct, sm_clock_mhz;
};

// Measured, or in sim rows simulated.
struct Counters {
  std::string bytes_source;  // cupti, sim, none
  Count hbm_read, hbm_write, hbm_write_in_kernel, hbm_total;
  Real hbm_spread_pct;
  Count hbm_counts;
  Count l2_read, l2_write, l2_atomic;
  Count sm_read, sm_write, sm_total, local;
  Count executed_tensor_flops;
  Real achieved_occupancy_pct, tensor_pipe_pct;
  Count sm_cycles;
};

// From the problem and the schedule alone.
struct Model {
  Count sm_bytes, intermediate_bytes, hbm_bytes, io_lower_bound_bytes;
  Count useful_flops, half_square_flops, tensor_flops;
};

struct Roofline {
  Real useful_tflops_per_s, mfu_pct;
  Real hbm_intensity, l2_intensity, sm_intensity;
  Real roof_tflops_per_s, roof_pct;
  std::string bound;  // hbm, l2, tensor, fma, exp, latency
};

// Of the longest step, empty where that is a library's; launches and workspace of the whole case.
struct Build {
  Count launches, ctas, threads_per_cta, registers, spill_bytes, smem_bytes;
  Real theoretical_occupancy_pct, waves;
  Count workspace_bytes;
  std::string kernel_hash;  // of all steps' machine code
};

struct Row {
  Identity identity;
  Provenance provenance;
  Resolved resolved;
  Status status;
  Verification verify;
  Latency latency;
  Counters counters;
  Model model;
  Roofline roofline;
  Build build;
};

}  // namespace attnprof
