#include "files/run_entry.hpp"

#include <nlohmann/json.hpp>

#include "base/version.hpp"
#include "files/env_id.hpp"

namespace attnprof {

OrderedJson run_entry(const std::string& command_line, const BackendInfo& info) {
  OrderedJson environment = OrderedJson::object();
  for (const auto& [name, value] : info.environment) environment[name] = value;
  return {
      {"started", utc_now()},         {"attnprof", {{"version", tool_version()}, {"commit", tool_commit()}}},
      {"command_line", command_line}, {"backend", info.name},
      {"env_id", env_id(info)},       {"comparable", info.comparable},
      {"environment", environment}};
}

void add_kernels(OrderedJson& entry, const std::optional<KernelTree>& kernels) {
  if (kernels) entry["kernels"] = {{"path", kernels->path}, {"hash", kernels->hash}};
}

}  // namespace attnprof
