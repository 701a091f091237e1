#include "cli/levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "roofline/levels.hpp"

namespace attnprof {

std::vector<std::vector<std::string>> level_lines() {
  std::vector<std::vector<std::string>> lines = {{"level", "title", "label", "passage", "bytes",
                                                  "model_bytes", "least_bytes", "intensity", "everywhere",
                                                  "roof", "roof_title"}};
  for (const Level& level : memory_levels())
    lines.push_back({std::string(level.name), std::string(level.title), std::string(level.label),
                     std::string(level.passage), fmt::format("{}", fmt::join(level.bytes.columns(), " + ")),
                     std::string(level.modelled.name), std::string(level.least.name),
                     std::string(level.intensity.name), level.everywhere ? "yes" : "no",
                     std::string(level.has_rate() ? level.bandwidth->name : ""),
                     std::string(level.has_rate() ? level.bandwidth->title : "")});
  return lines;
}

}  // namespace attnprof
