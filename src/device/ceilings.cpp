#include "device/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_names.hpp"

namespace attnprof {
namespace {

OrderedJson optional_json(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

// Nothing that is measured is 0 or less; the error is of the kind that a wrong type gives.
double above_zero(const OrderedJson& json, const char* key) {
  const double value = json.at(key);
  if (value > 0) return value;
  throw OrderedJson::type_error::create(302, fmt::format("{} must be above 0, but is {}", key, value), &json);
}

std::optional<double> optional_number(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return above_zero(json, key);
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

OrderedJson ceilings_json(const Ceilings& ceilings) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, ceiling] : ceilings)
    json[name] = {{"median", ceiling.median},
                  {"spread_pct", ceiling.spread_pct},
                  {"samples", ceiling.samples},
                  {"sm_clock_mhz", optional_json(ceiling.sm_clock_mhz)},
                  {"nominal", optional_json(ceiling.nominal)}};
  return json;
}

Ceilings parse_ceilings(const OrderedJson& json) {
  Ceilings ceilings;
  for (const auto& [name, value] : json.items())
    ceilings[name] = {.median = above_zero(value, "median"),
                      .spread_pct = value.value("spread_pct", 0.0),
                      .samples = value.value("samples", 0),
                      .sm_clock_mhz = optional_number(value, "sm_clock_mhz"),
                      .nominal = optional_number(value, "nominal")};
  return ceilings;
}

}  // namespace attnprof
