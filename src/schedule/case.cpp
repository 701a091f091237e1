#include "schedule/case.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "base/overloaded.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {

namespace {

void require(const OperandList& operands, OperandId id, const Step& step) {
  if (!operands.has(id))
    throw std::logic_error(fmt::format("step {} uses operand {}, which its case does not have", step.name,
                                       static_cast<int>(id)));
}

// What a launch names is there, and fits in AttentionParams.
void check_slots(const Step& step, const OperandList& operands) {
  std::visit(overloaded{[&](const KernelLaunch& kernel) {
                          if (kernel.tensor_maps.size() > attention_max_tensor_maps)
                            throw std::logic_error(
                                fmt::format("step {} asks for {} tensor maps, a launch has {}", step.name,
                                            kernel.tensor_maps.size(), attention_max_tensor_maps));
                          for (const TensorMap& map : kernel.tensor_maps)
                            require(operands, map.operand, step);
                        },
                        [&](const GemmLaunch& gemm) {
                          for (const OperandId id : {gemm.a, gemm.b, gemm.c}) require(operands, id, step);
                        },
                        [&](const MemsetLaunch& memset) { require(operands, memset.operand, step); },
                        [](const PluginLaunch&) {}},
             step.launch);
}

}  // namespace

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
  for (const Step& step : c.steps) check_slots(step, c.operands);
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
