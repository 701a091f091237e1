#include "gate/comparable.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_names.hpp"
#include "files/meta_document.hpp"
#include "measure/comparable_facts.hpp"
#include "problem/inputs.hpp"

namespace attnprof {
namespace {

std::string field_name(const std::string& fact) {
  return fact == "gpu" || fact == "target" ? "device" : fact;
}

std::string major(const std::string& version) { return version.substr(0, version.find('.')); }

// What the runs of a meta file list; nothing of one that is malformed, which is refused where it is used.
void add_listed_facts(const std::string& meta_text, std::set<std::string>& names) {
  const Json meta = Json::parse(meta_text, nullptr, /*allow_exceptions=*/false);
  if (!meta.is_object() || !meta.contains("runs") || !meta["runs"].is_object()) return;
  for (const Json& run : meta["runs"]) {
    if (!run.is_object() || !run.contains("comparable") || !run["comparable"].is_array()) continue;
    for (const Json& name : run["comparable"])
      if (name.is_string()) names.insert(field_name(name.get<std::string>()));
  }
}

std::string value_of(const RunFactsByName& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "absent" : found->second;
}

// Options tell of inputs for people. A file that does not say has what there was alone before it was asked
// for.
std::string input_name(const std::string& described) {
  if (described.empty()) return std::string(to_string(InputKind::normal));
  for (const InputKind kind : {InputKind::normal, InputKind::outliers})
    if (described == describe(kind)) return std::string(to_string(kind));
  return described;
}

}  // namespace

std::optional<RunFactsByName> comparable_facts(const std::string& meta_text, const std::string& run,
                                               const std::string& file) {
  const OrderedJson meta = parse_meta(meta_text, file);
  if (!meta["runs"].contains(run)) return std::nullopt;
  try {
    const OrderedJson& json = meta["runs"][run];
    const OrderedJson& environment = json.at("environment");
    RunFactsByName facts{{"backend", json.at("backend")}};
    for (const std::string name : json.at("comparable"))
      facts[field_name(name)] = environment.value(name, "");
    const OrderedJson options = json.value("options", OrderedJson::object());
    if (options.contains("seed")) facts["seed"] = options["seed"].dump();
    facts.try_emplace("input", input_name(options.value("input", "")));
    return facts;
  } catch (const OrderedJson::exception&) {
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

std::string describe(const std::vector<Difference>& differences, std::string_view place) {
  std::string text;
  for (const Difference& difference : differences)
    text += fmt::format("{}{} ({} {}, {} now)", text.empty() ? "" : ", ", difference.field,
                        difference.baseline, place, difference.current);
  return text;
}

std::vector<std::string> allowable_names(const std::vector<std::optional<std::string>>& meta_texts) {
  std::set<std::string> names = {"device", "seed", "env_id", "bytes_source"};
  for (const std::string& fact : all_comparable_facts()) names.insert(field_name(fact));
  for (const auto& text : meta_texts) add_listed_facts(text.value_or(""), names);
  return {names.begin(), names.end()};
}

}  // namespace attnprof
