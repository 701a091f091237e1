#include "plan/case_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "problem/problem_fields.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using nlohmann::json;

template <class Value>
json optional_to_json(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

template <class Value>
std::optional<Value> optional_from_json(const json& value) {
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

// What a word stands for; an unknown one is an error that names the field.
template <class Parse>
auto parse_word(const json& parent, const char* field, Parse parse) {
  const std::string text = parent.at(field).get<std::string>();
  const auto value = parse(text);
  if (!value) throw UsageError(fmt::format("case: {} '{}' is unknown", field, text));
  return *value;
}

// In their order, which a JSON object would lose.
json knobs_to_json(const Knobs& knobs) {
  json all = json::array();
  for (const Knobs::Value& each : knobs) all.push_back({each.name, each.value});
  return all;
}

Knobs knobs_from_json(const json& all, const Variant& variant) {
  Knobs knobs;
  for (const json& each : all) {
    const std::string name = each.at(0).get<std::string>();
    const Knob* knob = find_knob(variant, name);
    if (!knob) throw UsageError(fmt::format("case: {} has no knob '{}'", variant.name, name));
    knobs.set(knob->name, each.at(1).get<int>());
  }
  return knobs;
}

Case parse_case(const json& j) {
  const std::string variant = j.at("variant").get<std::string>();
  Case c;
  c.variant = find_variant(variant);
  if (!c.variant) throw UsageError(fmt::format("case: variant '{}' is unknown", variant));
  c.problem = problem_from_json(j.at("problem"));
  c.requested = {optional_from_json<int>(j.at("requested_br")), optional_from_json<int>(j.at("requested_bc")),
                 knobs_from_json(j.at("requested_knobs"), *c.variant)};
  c.cache = parse_word(j, "cache", parse_cache_state);
  c.tile = {j.at("br").get<int>(), j.at("bc").get<int>(), knobs_from_json(j.at("knobs"), *c.variant)};
  c.tile_reason = j.at("tile_reason").get<std::string>();
  c.skip = optional_from_json<std::string>(j.at("skip"));
  return c;
}

}  // namespace

json problem_to_json(const Problem& problem) {
  json all = json::object();
  for (const ProblemField& field : problem_fields())
    all[std::string(field.name)] = field.is_count() ? json(problem.*field.count) : json(field.word(problem));
  return all;
}

Problem problem_from_json(const json& j) {
  Problem problem;
  for (const ProblemField& field : problem_fields()) {
    const std::string name(field.name);
    if (field.is_count())
      j.at(name).get_to(problem.*field.count);
    else if (const std::string text = j.at(name); !field.set(problem, text))
      throw UsageError(fmt::format("case: {} '{}' is unknown", name, text));
  }
  return problem;
}

json to_json(const Case& c) {
  return {{"variant", c.variant->name},
          {"problem", problem_to_json(c.problem)},
          {"requested_br", optional_to_json(c.requested.br)},
          {"requested_bc", optional_to_json(c.requested.bc)},
          {"requested_knobs", knobs_to_json(c.requested.knobs)},
          {"cache", to_string(c.cache)},
          {"br", c.tile.br},
          {"bc", c.tile.bc},
          {"knobs", knobs_to_json(c.tile.knobs)},
          {"tile_reason", c.tile_reason},
          {"skip", optional_to_json(c.skip)}};
}

Case case_from_json(const json& j) {
  try {
    return parse_case(j);
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("case: {}", error.what()));
  }
}

}  // namespace attnprof
