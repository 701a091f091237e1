#include "roofline/ceilings.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace attnprof {
namespace {

using Json = nlohmann::ordered_json;

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::optional<double> optional_number(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

const CeilingKind* find_ceiling_kind(std::string_view name) {
  const auto* found = std::ranges::find(ceiling_kinds, name, &CeilingKind::name);
  return found == ceiling_kinds.end() ? nullptr : found;
}

std::optional<double> ceiling_at(const Ceilings& ceilings, std::string_view name,
                                 std::optional<double> sm_clock_mhz) {
  const auto found = ceilings.find(name);
  if (found == ceilings.end()) return std::nullopt;
  const Ceiling& ceiling = found->second;
  const CeilingKind* kind = find_ceiling_kind(name);
  if (!kind || !kind->with_sm_clock || !sm_clock_mhz || ceiling.sm_clock_mhz.value_or(0) <= 0)
    return ceiling.median;
  return ceiling.median * *sm_clock_mhz / *ceiling.sm_clock_mhz;
}

DeviceProfile at_ceilings(DeviceProfile device, const Ceilings& ceilings) {
  constexpr double least_share = 0.5;
  for (const PeakFigure& figure : peak_figures) {
    double fastest = 0;
    for (const CeilingKind& kind : ceiling_kinds)
      if (const auto found = ceilings.find(kind.name); kind.nominal == figure.rate && found != ceilings.end())
        fastest = std::max(fastest, found->second.median);
    // Under half of a nominal rate, the instructions measured are not those it is of (mma.sync on a
    // Blackwell).
    if (fastest > least_share * device.*figure.rate) device.*figure.rate = fastest;
  }
  return device;
}

Json ceilings_json(const Ceilings& ceilings) {
  Json json = Json::object();
  for (const auto& [name, ceiling] : ceilings)
    json[name] = {{"median", ceiling.median},
                  {"spread_pct", ceiling.spread_pct},
                  {"samples", ceiling.samples},
                  {"sm_clock_mhz", optional_json(ceiling.sm_clock_mhz)},
                  {"nominal", optional_json(ceiling.nominal)}};
  return json;
}

Ceilings parse_ceilings(const Json& json) {
  Ceilings ceilings;
  for (const auto& [name, value] : json.items())
    ceilings[name] = {.median = value.at("median"),
                      .spread_pct = value.value("spread_pct", 0.0),
                      .samples = value.value("samples", 0),
                      .sm_clock_mhz = optional_number(value, "sm_clock_mhz"),
                      .nominal = optional_number(value, "nominal")};
  return ceilings;
}

}  // namespace attnprof
