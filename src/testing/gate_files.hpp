// Result files for tests of the gate: rows with plausible numbers, and the meta that goes with them.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gate/gate.hpp"
#include "row/row_csv.hpp"
#include "testing/row_identity.hpp"

namespace attnprof {

// A measured row: 1 ms, 64 MB of HBM, 100 MB of SM bytes, 1 GFLOP.
inline Row measured_row(int64_t length = 1024) {
  Row row;
  row.identity = row_identity("flash2", 4, length);
  row.provenance = {"1", "20260101T000000Z-00000001", "e1", "gpu", "GPU"};
  row.resolved = {64, 64, "-"};
  row.status = {"ok", "", ""};
  row.verify = {"yes", 1e-4, 1e-4};
  row.latency.latency_source = "cuda_events";
  row.latency.median_ns = 1e6;
  row.latency.ci95_low_ns = 0.997e6;
  row.latency.ci95_high_ns = 1.003e6;
  row.latency.samples = 100;
  row.latency.drift_pct = 0.1;
  row.latency.sm_clock_mhz = 1980;
  row.counters.bytes_source = "cupti";
  row.counters.hbm_total = 64'000'000;
  row.counters.hbm_spread_pct = 0.1;
  row.counters.hbm_counts = 5;
  row.counters.sm_total = 100'000'000;
  row.counters.executed_tensor_flops = 1'000'000'000;
  row.counters.sm_cycles = 1'980'000;
  row.build.registers = 128;
  row.build.spill_bytes = 0;
  row.build.smem_bytes = 49152;
  return row;
}

inline std::string csv_of(const std::vector<Row>& rows) {
  std::string text = csv_header(all_columns());
  for (const Row& row : rows) text += csv_row(all_columns(), row);
  return text;
}

// The gate's outcome on texts. `code` and `error`: of what it threw.
struct Outcome {
  int code = 0;
  std::string error;
  std::string verdicts;  // "worse hbm_bytes" a line, then events
  std::string summary;
};

Outcome gate_texts(const std::string& baseline, const std::string& current, const GateOptions& options = {},
                   const std::optional<std::string>& baseline_meta = {},
                   const std::optional<std::string>& current_meta = {});

// A meta file of one run with these comparable facts.
inline std::string meta_of(const std::string& run, const nlohmann::json& facts, int seed = 1) {
  nlohmann::json comparable = nlohmann::json::array();
  for (const auto& [name, value] : facts.items()) comparable.push_back(name);
  return nlohmann::json{{"runs",
                         {{run,
                           {{"backend", "gpu"},
                            {"comparable", comparable},
                            {"environment", facts},
                            {"options", {{"seed", seed}}}}}}}}
      .dump();
}

inline Outcome gate_texts(const std::string& baseline, const std::string& current, const GateOptions& options,
                          const std::optional<std::string>& baseline_meta,
                          const std::optional<std::string>& current_meta) {
  try {
    std::istringstream old_stream(baseline), new_stream(current);
    const Table old_table(old_stream, "base.csv", options.key, options.metrics);
    const Table new_table(new_stream, "new.csv", options.key, options.metrics);
    const GateResult result = gate({old_table, baseline_meta}, {new_table, current_meta}, options);
    Outcome outcome{.code = static_cast<int>(result.exit_code()), .error = {}, .verdicts = {}, .summary = {}};
    for (const Comparison& comparison : result.different)
      outcome.verdicts += fmt::format("{} {}\n", to_string(comparison.judgement.verdict),
                                      old_table.layout().metrics[comparison.metric].column);
    for (const Event& event : result.events) outcome.verdicts += fmt::format("{}\n", to_string(event.kind));
    for (const std::string& warning : result.warnings) outcome.summary += warning + "\n";
    return outcome;
  } catch (const Error& error) {
    return {.code = static_cast<int>(error.code()), .error = error.what(), .verdicts = {}, .summary = {}};
  }
}

}  // namespace attnprof
