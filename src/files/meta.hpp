// out.csv.meta.json: what describes a run rather than a case, by the row's `run`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/ceilings.hpp"
#include "measure/backend.hpp"
#include "measure/compile/kernel_tree.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// What the rows of a run have in common beyond their environment.
struct RunFacts {
  std::string run;
  std::string command_line;
  MeasureOptions options;
  size_t cases = 0;
  std::string plan_id;
  std::optional<KernelTree> kernels = {};  // nothing: none was found, or the rows have none
};

// Hash of what must agree for a run to be resumed: the cases in order, and the options that change results.
std::string plan_id(const std::vector<Case>& cases, const MeasureOptions& options);

inline std::string meta_path(const std::string& csv_path) { return csv_path + ".meta.json"; }
// Of every path that is not empty the file and what is beside it.
std::vector<std::string> with_meta(const std::vector<std::string>& csv_paths);

// The text of `file` after the run is added to `existing` (its text so far, or empty). Throws UsageError when
// `existing` is no meta file.
std::string meta_with_run(const std::string& existing, const std::string& file, const RunFacts& facts,
                          const BackendInfo& info);

// Of one run of a meta file, what --resume compares.
struct RunRecord {
  std::string plan_id, env_id, command_line;
  std::map<std::string, std::string> comparable;
};
// Nothing when the run is not in it; throws UsageError when the text is no meta file.
std::optional<RunRecord> find_run(const std::string& text, const std::string& run, const std::string& file);

// The rates that the rows of a run were held against, by name. Empty
// where the run is not in it or has none, as those of other tools. Throws UsageError when the text is no meta
// file or a rate is no number.
Peaks find_peaks(const std::string& text, const std::string& run, const std::string& file);

// The measured ceilings of a run's device, under the same conditions.
Ceilings find_ceilings(const std::string& text, const std::string& run, const std::string& file);

}  // namespace attnprof
