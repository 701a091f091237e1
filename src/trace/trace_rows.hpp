// From what traced processes wrote to rows of the schema.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "measure/backend.hpp"
#include "row/row.hpp"
#include "trace/trace_files.hpp"

namespace attnprof {

// The launches on GPUs, or MIG parts, that are alike in facts and settings: a run of its own, because a run's
// .meta.json knows one device. GPUs of one name may differ in memory, power limit or ECC.
struct TracedRun {
  BackendInfo info;
  std::vector<Row> rows;  // their provenance is the caller's to fill in
};

enum class RowsPer { launch, name };

// Settings of a GPU by its bus id, as environment facts ("ecc", "on").
using CardSettings =
    std::function<std::vector<std::pair<std::string, std::string>>(const std::string& bus_id)>;

// RowsPer::launch: a row a launch, in order; what its pass did not hold is the median of the launches of the
// same kernel and configuration whose pass did (flag other_launches). RowsPer::name: a row a kernel and
// configuration, medians over all of its launches in all processes.
std::vector<TracedRun> traced_runs(const std::vector<ProcessTrace>& traces, RowsPer per,
                                   const CardSettings& settings);

}  // namespace attnprof
