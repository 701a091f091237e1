#include "files/build_meta.hpp"

#include <nlohmann/json.hpp>

#include "base/json_names.hpp"
#include "base/version.hpp"
#include "files/env_id.hpp"
#include "measure/backend.hpp"
#include "row/schema.hpp"

namespace attnprof {

std::string env_id(const BuildRun& run) {
  BackendInfo info;
  info.name = run.command;
  info.environment = run.environment;
  info.comparable = run.comparable;
  return env_id(info);
}

std::string build_meta(const BuildRun& run) {
  OrderedJson environment = OrderedJson::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;
  OrderedJson entry = {{"started", utc_now()},
                       {"attnprof", {{"version", tool_version()}, {"commit", tool_commit()}}},
                       {"command_line", run.command_line},
                       {"backend", run.command},
                       {"env_id", env_id(run)},
                       {"comparable", run.comparable},
                       {"environment", environment}};
  if (run.kernels) entry["kernels"] = {{"path", run.kernels->path}, {"hash", run.kernels->hash}};
  const OrderedJson meta = {{"schema", schema_version}, {"runs", {{run.run, entry}}}};
  return meta.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
