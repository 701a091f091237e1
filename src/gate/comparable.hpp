// May two runs be compared? Decided by env_id and, where it differs, by the facts of the runs' .meta.json.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// What must agree, by name, of one run; nothing when the meta file does not have the run.
using RunFactsByName = std::map<std::string, std::string>;

// The facts of `run` in the text of a meta file: those the run lists as comparable, and its seed. Throws
// UsageError when the text is no meta file.
std::optional<RunFactsByName> comparable_facts(const std::string& meta_text, const std::string& run,
                                               const std::string& file);

struct Difference {
  std::string field, baseline, current;
};

// Every fact that differs, but those in `allowed`. `gpu` and `target` are called `device`, as in the rows; of
// `cuda_driver` only the major version counts here.
std::vector<Difference> differences(const RunFactsByName& baseline, const RunFactsByName& current,
                                    const std::set<std::string>& allowed);

// A new driver: times are not compared, bytes and FLOPs are.
bool is_driver(const Difference& difference);

// "ecc (on in the baseline, off now)"; `place`: where the first value is, "in the baseline".
std::string describe(const std::vector<Difference>& differences, std::string_view place);

// Every name that --allow-different takes: the facts of all backends and those that the runs of these meta
// files list, as the rows call them, and what is no fact of a meta file.
std::vector<std::string> allowable_names(const std::vector<std::optional<std::string>>& meta_texts);

}  // namespace attnprof
