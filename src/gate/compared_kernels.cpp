#include "gate/compared_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "files/meta.hpp"
#include "files/meta_document.hpp"

namespace attnprof {
namespace {

std::string text_at(const OrderedJson& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

void add(std::vector<KernelSources>& all, const OrderedJson& owner) {
  const auto found = owner.is_object() ? owner.find("kernels") : owner.end();
  if (found == owner.end() || !found->is_object()) return;
  const KernelSources one{.path = text_at(*found, "path"), .hash = text_at(*found, "hash")};
  if (!one.hash.empty() && std::ranges::find(all, one) == all.end()) all.push_back(one);
}

std::string listed(const std::vector<KernelSources>& sources) {
  if (sources.empty()) return "unknown ones";
  std::string text;
  for (const KernelSources& one : sources)
    text += fmt::format("{}{} ({})", text.empty() ? "" : " and ", one.path, hash_and_changes(one));
  return text;
}

}  // namespace

std::vector<KernelSources> kernels_of(const GateInput& input, const std::vector<uint32_t>& rows) {
  std::vector<KernelSources> all;
  const bool others = input.table.layout().source == Source::other;  // and so is what lies beside it
  if (others || !input.meta) return all;
  const OrderedJson meta = parse_meta(*input.meta, meta_path(input.table.file()));
  add(all, meta);  // of a build
  std::set<std::string> names;
  for (const uint32_t row : rows) names.insert(input.table.fact(row, Fact::run));
  const OrderedJson& runs = meta["runs"];
  for (const std::string& name : names)
    if (const auto run = runs.find(name); run != runs.end()) add(all, *run);
  return all;
}

std::string hash_and_changes(const KernelSources& sources) {
  const size_t changes = sources.uncommitted;
  return sources.hash +
         (changes == 0 ? "" : fmt::format(" and {} uncommitted change{}", changes, changes == 1 ? "" : "s"));
}

std::string kernels_sentence(const GateResult& result, Against against) {
  const auto &before = result.baseline_kernels, &now = result.current_kernels;
  if (before.empty() && now.empty()) return "";
  const auto known = [](const auto& all) { return all.size() == 1 && all.front().uncommitted == 0; };
  const bool same = known(before) && known(now) && before.front().hash == now.front().hash;
  return fmt::format("kernels: {} {}, {} now{}", listed(before), place_of(against), listed(now),
                     same ? ", the same built-in sources" : "");
}

}  // namespace attnprof
