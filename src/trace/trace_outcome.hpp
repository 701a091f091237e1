// What became of a trace, in sentences.
#pragma once

#include <string>
#include <vector>

#include "trace/trace_rows.hpp"

namespace attnprof {

struct TraceRequest {
  std::string program, kernel, range, output;
  bool has_driver = true;  // libcuda.so.1 can be opened here
};

// For standard error, after the program has ended: what was traced, or why nothing was.
std::vector<std::string> trace_sentences(const TraceRequest& request, const std::vector<ProcessTrace>& traces,
                                         const std::vector<TracedRun>& runs);

}  // namespace attnprof
