// attnprof baseline update: the rows of a run into a baseline.
#pragma once

#include <string>

#include "gate/gate.hpp"

namespace attnprof {

struct BaselineUpdate {
  std::string csv, meta;  // texts of the new files; `meta` empty when neither file had one
  size_t replaced = 0, added = 0, kept = 0;
};

// Rows of the current run that are ok replace those of the same identity in place and are added at the end
// otherwise; every other row of the baseline stays as it is. Of a baseline with several runs the newest row
// of an identity is kept. Columns are joined by name. `baseline_meta` and `current_meta`: texts, nothing when
// there is none.
BaselineUpdate updated_baseline(const std::string& baseline_csv,
                                const std::optional<std::string>& baseline_meta, const Table& baseline,
                                const std::string& current_csv,
                                const std::optional<std::string>& current_meta, const Table& current,
                                const std::string& run);

}  // namespace attnprof
