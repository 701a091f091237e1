// The counters held against the truth: copies and fills of known size; and what mma.sync can do here.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/ceilings.hpp"
#include "measure/backend.hpp"

namespace attnprof {

// One operation of known size and what the counters said.
struct SelfTestRow {
  std::string operation;  // copy, copy_bulk (the bulk-copy engine), fill
  int64_t true_read = 0;
  int64_t true_write = 0;
  Counters counted;

  // Counted HBM reads over the true ones; nothing for a fill, which reads nothing.
  std::optional<double> read_ratio() const;
  double write_ratio() const;
  // Reads within 0.5 % and settled writes within 0.4 MB + 0.5 % of the truth; false for what was not counted.
  bool reads_well() const;
  bool writes_well() const;
};

// Counts copies and fills of 4, 16, 64, 256 MiB and 1 GiB, by ordinary loads and stores and, where the
// architecture has it, by the bulk-copy engine. `counted` is called after each. Throws EnvironmentError where
// counters cannot be read, or the GPU has no room.
std::vector<SelfTestRow> count_known_sizes(const MeasureOptions& options,
                                           const std::function<void(const SelfTestRow&)>& counted = {});

// The rows as CSV text, with a header; rates of mma.sync as rows "mma_sync_bf16" that have a
// rate and a clock alone.
std::string self_test_csv(const std::vector<SelfTestRow>& rows, const Ceilings& rates);

// Counts, measures the rates, prints a table, writes `output` as CSV unless it is empty. ok, or failed when a
// row is outside the limits.
ExitCode self_test(const MeasureOptions& options, const std::string& output, std::ostream& out);

}  // namespace attnprof
