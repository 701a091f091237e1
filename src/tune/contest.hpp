// What `tune` asks: of one variant and one problem, which tile and knobs are fastest? And what it tries.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/sweep.hpp"

namespace attnprof {

struct Contest {
  std::vector<Case> candidates;  // the variant's default first; no kernel twice
};

// One for each problem, cache state and variant of the axes. Tiles and knobs are those of the axes where
// given, else the variant's candidates, else multiples of 16. Skipped candidates are among them. Throws as
// `expand` does.
std::vector<Contest> contests_of(const SweepAxes& axes, const DeviceProfile& device, int64_t free_bytes);

// Candidates left out for one reason, that of an example: "128x256: step attention needs 294912 bytes ...".
struct Pruned {
  size_t count = 0;
  std::string example;
};

// Takes out the candidates that cannot run. Reasons that differ in their numbers alone count as one.
std::vector<Pruned> prune_skipped(std::vector<Contest>& contests);

// Takes out what `why_not` has a reason against, but for the defaults, which the others are held against.
std::vector<Pruned> prune(std::vector<Contest>& contests,
                          const std::function<std::optional<std::string>(const Case&)>& why_not);

// Br x Bc and the knobs in force: "128x64 stages=2;warp_rows=32".
std::string tile_text(const Case& c);

}  // namespace attnprof
