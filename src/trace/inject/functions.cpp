#include "trace/inject/functions.hpp"

#include <mutex>

#include "trace/kernel_name.hpp"

namespace attnprof {

// NCCL's kernels wait for those of other GPUs, which the same thread may have yet to launch: waiting for one
// would wait for ever.
bool FunctionTable::wanted(const std::string& kernel) const {
  return !kernel.starts_with("nccl") && kernel_.matches(kernel);
}

std::shared_ptr<TracedFunction> FunctionTable::find(const void* handle,
                                                    const std::function<std::string()>& name) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = functions_.find(handle); found != functions_.end()) return found->second;
  }
  auto function = std::make_shared<TracedFunction>();
  function->kernel = demangled(name());
  function->wanted = wanted(function->kernel);
  return insert(handle, std::move(function));
}

std::shared_ptr<TracedFunction> FunctionTable::insert(const void* handle,
                                                      std::shared_ptr<TracedFunction> function) {
  const std::unique_lock lock(mutex_);
  const auto [place, is_new] = functions_.emplace(handle, std::move(function));
  if (is_new) on_new(place->second->kernel);
  return place->second;
}

void FunctionTable::add_graph(const void* handle, const std::vector<std::string>& names) {
  auto graph = std::make_shared<TracedFunction>();
  graph->graph_kernels = static_cast<int64_t>(names.size());
  bool blocked = false;
  for (const std::string& mangled : names) {
    const std::string kernel = demangled(mangled);
    blocked |= kernel.starts_with("nccl");
    if (graph->kernel.empty() || (!graph->wanted && wanted(kernel))) graph->kernel = kernel;
    graph->wanted |= wanted(kernel);
  }
  graph->wanted &= !blocked;
  const std::unique_lock lock(mutex_);
  if (const auto old = functions_.find(handle); old != functions_.end()) {
    forgotten_[old->second->kernel] += old->second->launches;
    functions_.erase(old);
  }
  on_new(graph->kernel);
  functions_.emplace(handle, std::move(graph));
}

void FunctionTable::forget() {
  const std::unique_lock lock(mutex_);
  std::erase_if(functions_, [&](const auto& entry) {
    if (entry.second->graph_kernels > 0) return false;
    forgotten_[entry.second->kernel] += entry.second->launches;
    return true;
  });
}

std::map<std::string, int64_t> FunctionTable::launches() const {
  const std::shared_lock lock(mutex_);
  std::map<std::string, int64_t> all = forgotten_;
  for (const auto& [handle, function] : functions_) all[function->kernel] += function->launches;
  return all;
}

}  // namespace attnprof
