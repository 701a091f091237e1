#include "device/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_names.hpp"
#include "device/rate_range.hpp"

namespace attnprof {
namespace {

OrderedJson optional_json(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

// The error is of the kind that a wrong type gives.
double above_zero(const OrderedJson& json, const char* key) {
  const double value = json.at(key);
  if (is_rate(value)) return value;
  throw OrderedJson::type_error::create(302, fmt::format("{} must be above 0, but is {}", key, value), &json);
}

std::optional<double> optional_number(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  return above_zero(json, key);
}

// A number that is no int would be whatever the conversion makes of it.
int samples_of(const OrderedJson& json) {
  const double samples = json.value("samples", 0.0);
  return samples >= 0 && samples <= 1e9 ? static_cast<int>(samples) : 0;
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
                      .samples = samples_of(value),
                      .sm_clock_mhz = optional_number(value, "sm_clock_mhz"),
                      .nominal = optional_number(value, "nominal")};
  return ceilings;
}

}  // namespace attnprof
