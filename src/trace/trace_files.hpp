// The files that traced processes leave, read when they have ended.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/launch_record.hpp"

namespace attnprof {

struct ProcessTrace {
  ProcessRecord process;
  std::vector<LaunchRecord> launches;  // in the order they were made
  std::map<int, DeviceRecord> devices;
  std::map<std::string, int64_t> seen;  // launches by kernel, traced or not
  std::vector<std::string> failures;
  size_t bad_lines = 0;  // torn by the end of the process, or no line of ours
};

// Every file of the folder, in the order of their names, which begin with the time.
std::vector<ProcessTrace> read_traces(const std::string& folder);

}  // namespace attnprof
