#include "files/env_id.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "base/hash.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

std::tm utc_time() {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

}  // namespace

std::string env_id(const BackendInfo& info) {
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : info.environment)
    if (std::ranges::find(info.comparable, name) != info.comparable.end()) facts[name] = value;
  std::string text =
      fmt::format("schema={}\nbackend={}\ndevice={}\n", schema_version, info.name, info.device.name);
  for (const auto& [name, value] : facts) text += fmt::format("{}={}\n", name, value);
  return hash_text(text);
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc_time()); }

std::string new_run_id() {
  const auto ticks = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{}", utc_time(),
                     hash_text(fmt::format("{} {}", ticks, getpid())).substr(0, 8));
}

}  // namespace attnprof
