#include "trace/trace_files.hpp"

#include <algorithm>
#include <filesystem>

#include "base/csv.hpp"

namespace attnprof {
namespace {

struct Take {
  ProcessTrace& trace;
  void operator()(const ProcessRecord& process) const { trace.process = process; }
  void operator()(const DeviceRecord& device) const { trace.devices[device.index] = device; }
  void operator()(const LaunchRecord& launch) const { trace.launches.push_back(launch); }
  void operator()(const TraceFailure& failure) const { trace.failures.push_back(failure.sentence); }
  void operator()(const KernelSeen& kernel) const {
    int64_t& launches = trace.seen[kernel.kernel];
    launches = std::max(launches, kernel.launches);
  }
};

ProcessTrace read_trace(const std::string& path) {
  ProcessTrace trace;
  const std::string text = read_text_file(path);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const bool whole = end != std::string::npos;
    const auto line = whole ? parse_line(std::string_view(text).substr(begin, end - begin)) : std::nullopt;
    if (line)
      std::visit(Take{trace}, *line);
    else
      ++trace.bad_lines;
    begin = whole ? end + 1 : text.size();
  }
  return trace;
}

}  // namespace

std::vector<ProcessTrace> read_traces(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  std::vector<ProcessTrace> traces;
  for (const std::string& path : paths) traces.push_back(read_trace(path));
  return traces;
}

}  // namespace attnprof
