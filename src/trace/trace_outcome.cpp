#include "trace/trace_outcome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "trace/kernel_name.hpp"

namespace attnprof {
namespace {

// A count is of one launch, or where its counters take several passes of as many launches.
size_t counts_of(const std::vector<ProcessTrace>& traces) {
  size_t counts = 0;
  for (const ProcessTrace& trace : traces) counts += trace.launches.size();
  return counts;
}

std::string number_of(size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::vector<std::string> distinct_failures(const std::vector<ProcessTrace>& traces) {
  std::vector<std::string> failures;
  for (const ProcessTrace& trace : traces)
    for (const std::string& failure : trace.failures)
      if (std::ranges::find(failures, failure) == failures.end()) failures.push_back(failure);
  return failures;
}

// "flash_fwd_kernel (12), vectorized_elementwise_kernel<4> (3)": the ten that were launched most.
std::string kernels_seen(const std::vector<ProcessTrace>& traces) {
  constexpr size_t most = 10;
  std::map<std::string, int64_t> launches;
  for (const ProcessTrace& trace : traces)
    for (const auto& [kernel, count] : trace.seen) launches[short_kernel_name(kernel)] += count;
  std::vector<std::pair<std::string, int64_t>> kernels(launches.begin(), launches.end());
  std::ranges::stable_sort(kernels, std::greater{}, [](const auto& kernel) { return kernel.second; });
  std::vector<std::string> names;
  for (const auto& [name, count] : kernels)
    if (names.size() < most) names.push_back(count > 0 ? fmt::format("{} ({})", name, count) : name);
  if (kernels.size() > most) names.push_back(fmt::format("and {} more", kernels.size() - most));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string asked_for(const TraceRequest& request) {
  std::string text = request.kernel.empty() ? "" : fmt::format("--kernel '{}'", request.kernel);
  if (!request.range.empty())
    text += fmt::format("{}--range '{}'", text.empty() ? "" : " within ", request.range);
  return text.empty() ? "the trace" : text;
}

std::string why_nothing(const TraceRequest& request, const std::vector<ProcessTrace>& traces) {
  if (traces.empty() && !request.has_driver)
    return fmt::format("nothing was traced: {} used no CUDA: there is no NVIDIA driver (libcuda.so.1) here",
                       request.program);
  if (traces.empty())
    return fmt::format(
        "nothing was traced: {} used no CUDA (no process of it "
        "initialised the driver, libcuda, which loads the tracing library)",
        request.program);
  const std::string kernels = kernels_seen(traces);
  if (kernels.empty())
    return fmt::format("nothing was traced: {} initialised CUDA and launched no kernel", request.program);
  return fmt::format("nothing was traced: no launch matched {}; launched were, most often first: {}",
                     asked_for(request), kernels);
}

size_t rows_of(const std::vector<TracedRun>& runs) {
  size_t rows = 0;
  for (const TracedRun& run : runs) rows += run.rows.size();
  return rows;
}

}  // namespace

std::vector<std::string> trace_sentences(const TraceRequest& request, const std::vector<ProcessTrace>& traces,
                                         const std::vector<TracedRun>& runs) {
  std::vector<std::string> sentences = distinct_failures(traces);
  if (runs.empty()) {
    if (sentences.empty()) sentences.push_back(why_nothing(request, traces));
  } else {
    sentences.push_back(fmt::format("{} of launches, {} in {}", number_of(counts_of(traces), "count"),
                                    number_of(rows_of(runs), "row"), request.output));
    for (const TracedRun& run : runs)
      sentences.insert(sentences.end(), run.info.notices.begin(), run.info.notices.end());
  }
  size_t bad = 0;
  for (const ProcessTrace& trace : traces) bad += trace.bad_lines;
  if (bad > 0)
    sentences.push_back(fmt::format("{} torn lines of processes that were killed are left out", bad));
  for (std::string& sentence : sentences) sentence.insert(0, "attnprof trace: ");
  return sentences;
}

}  // namespace attnprof
