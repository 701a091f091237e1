#include "schedule/case.hpp"

#include <fmt/format.h>

#include "problem/problem_fields.hpp"

namespace attnprof {

std::string_view to_string(CacheState cache) { return cache == CacheState::cold ? "cold" : "warm"; }

std::optional<CacheState> parse_cache_state(std::string_view text) {
  for (CacheState cache : {CacheState::cold, CacheState::warm})
    if (text == to_string(cache)) return cache;
  return std::nullopt;
}

std::string to_string(const TileRequest& request) {
  const auto side = [](const std::optional<int>& value) {
    return value ? fmt::format("{}", *value) : "auto";
  };
  if (!request.br && !request.bc) return "auto";
  return side(request.br) + "x" + side(request.bc);
}

void set_launches(Case& c, const DeviceProfile& device) {
  c.operands = case_operands(*c.variant, c.problem, c.tile);
  c.steps = c.variant->steps(c.problem, c.tile, device);
}

std::vector<Step> timed_steps(const Case& c) {
  std::vector<Step> steps = c.steps;
  std::erase_if(steps, [](const Step& step) { return !step.timed; });
  return steps;
}

std::string describe(const Case& c) {
  // A variant without tiles of its own resolves to 0 x 0.
  const std::string tile = c.tile.br > 0 ? fmt::format(" {}x{}", c.tile.br, c.tile.bc) : "";
  const std::string knobs = c.requested.knobs.empty() ? "" : " " + to_string(c.requested.knobs);
  return fmt::format("{}{}{} {} {}", c.variant->name, tile, knobs, describe(c.problem), to_string(c.cache));
}

}  // namespace attnprof
