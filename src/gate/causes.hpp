// What a gate found, a line a cause: rows of one algorithm (or kernel) that came out alike, with the same
// change of tile, are one cause, however many they are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gate/gate.hpp"
#include "gate/row_outcome.hpp"
#include "gate/shared_identity.hpp"

namespace attnprof {

// Of the rows of a cause, those whose metric has one verdict.
struct CauseMetric {
  size_t metric;
  Verdict verdict;
  size_t rows = 0;
  const Comparison* most = nullptr;  // of the row where it changed most
};

struct Cause {
  RowState state;
  bool failed = false;               // any of its rows fails the gate
  uint32_t first = 0;                // row; of the baseline's file where it is missing
  const RowPair* pair = nullptr;     // of the first row, where both files have it
  size_t rows = 0, of = 0;           // of so many with the same shared identity
  SharedIdentity identity{0};        // of its rows
  std::vector<CauseMetric> metrics;  // those of its own verdict first
};

using RowCounts = std::array<size_t, static_cast<size_t>(RowState::count)>;

// The result as reports tell it. `result` and `options` must outlive it.
struct GateReport {
  GateReport(const GateResult& gate_result, const GateOptions& gate_options);

  size_t count(RowState state) const { return rows[static_cast<size_t>(state)]; }
  size_t all_rows() const;
  const Table& table_of(const Cause& cause) const;  // the file that its rows are of
  std::string label(const Cause& cause) const;      // its identity beyond the caption; of one row all that is
  std::string caption() const;                      // what all rows share

  const GateResult& result;
  const GateOptions& options;
  RowCounts rows{};                          // by state
  SharedIdentity identity;                   // of all rows
  std::vector<Cause> causes;                 // worst first, the most rows first
  size_t more_causes = 0, rows_of_more = 0;  // beyond those
};

inline constexpr size_t most_causes = 20;

// "12 of 12 kernels worse: spills in 10, shared memory in 12; tile 32x32 -> 64x64" in its parts.
struct CauseText {
  std::string rows;   // 12 of 12 kernels
  std::string state;  // worse
  std::string label;  // flash2 head_dim=64; empty where all rows are meant
  std::string what;   // spills in 10, ...
};
CauseText text_of(const GateReport& report, const Cause& cause);
std::string joined(const CauseText& text);

// "64x64 -> 128x64".
std::string tile_change(const GateResult& result, const RowPair& pair);
// "failed: out of memory".
std::string disposition_and_reason(const Table& table, size_t row);
// "134 MB -> 137 MB (+2.00 %)".
std::string change_text(const Metric& metric, const Comparison& comparison);
// "hbm_bytes 134 MB -> 137 MB (+2.00 %, ...)": with why, and what is allowed.
std::string describe_change(const GateResult& result, const Comparison& comparison);

}  // namespace attnprof
