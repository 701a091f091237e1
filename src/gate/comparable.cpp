#include "gate/comparable.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_names.hpp"

namespace attnprof {
namespace {

std::string field_name(const std::string& fact) {
  return fact == "gpu" || fact == "target" ? "device" : fact;
}

std::string major(const std::string& version) { return version.substr(0, version.find('.')); }

std::string value_of(const RunFactsByName& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "absent" : found->second;
}

}  // namespace

std::optional<RunFactsByName> comparable_facts(const std::string& meta_text, const std::string& run,
                                               const std::string& file) {
  const Json meta = Json::parse(meta_text, nullptr, /*allow_exceptions=*/false);
  if (!meta.is_object() || !meta.contains("runs") || !meta["runs"].is_object())
    throw UsageError(fmt::format("{} is no attnprof meta file; give the one that the sweep wrote", file));
  if (!meta["runs"].contains(run)) return std::nullopt;
  try {
    const Json& json = meta["runs"][run];
    const Json& environment = json.at("environment");
    RunFactsByName facts{{"backend", json.at("backend")}};
    for (const std::string name : json.at("comparable"))
      facts[field_name(name)] = environment.value(name, "");
    if (json.contains("options") && json["options"].contains("seed"))
      facts["seed"] = json["options"]["seed"].dump();
    return facts;
  } catch (const Json::exception&) {
    throw UsageError(
        fmt::format("{}: the entry of run {} lacks backend, comparable or environment", file, run));
  }
}

std::vector<Difference> differences(const RunFactsByName& baseline, const RunFactsByName& current,
                                    const std::set<std::string>& allowed) {
  std::vector<Difference> found;
  RunFactsByName all = baseline;
  all.insert(current.begin(), current.end());
  for (const auto& [name, unused] : all) {
    const std::string old = value_of(baseline, name), now = value_of(current, name);
    if (old != now && !allowed.contains(name)) found.push_back({name, old, now});
  }
  return found;
}

bool is_driver(const Difference& difference) {
  if (difference.field == "driver") return true;
  return difference.field == "cuda_driver" && major(difference.baseline) == major(difference.current);
}

std::string describe(const std::vector<Difference>& differences) {
  std::string text;
  for (const Difference& difference : differences)
    text += fmt::format("{}{} ({} in the baseline, {} now)", text.empty() ? "" : ", ", difference.field,
                        difference.baseline, difference.current);
  return text;
}

}  // namespace attnprof
