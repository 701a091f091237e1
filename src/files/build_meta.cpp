#include "files/build_meta.hpp"

#include <nlohmann/json.hpp>

#include "base/json_names.hpp"
#include "files/env_id.hpp"
#include "files/meta_document.hpp"
#include "files/run_entry.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

// As a backend would tell of itself.
BackendInfo info_of(const BuildRun& run) {
  BackendInfo info;
  info.name = run.command;
  info.environment = run.environment;
  info.comparable = run.comparable;
  return info;
}

}  // namespace

std::string env_id(const BuildRun& run) { return env_id(info_of(run)); }

std::string build_meta(const BuildRun& run) {
  OrderedJson entry = run_entry(run.command_line, info_of(run));
  add_kernels(entry, run.kernels);
  return meta_text({{"schema", schema_version}, {"runs", {{run.run, entry}}}});
}

}  // namespace attnprof
