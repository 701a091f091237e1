#include "trace/functions.hpp"

#include <array>
#include <mutex>

#include "base/demangled.hpp"
#include "trace/kernel_name.hpp"

namespace attnprof {
namespace {

// What a thread was answered: true as long as the table's generation is the same.
struct Answer {
  const void* handle = nullptr;
  uint64_t generation = 0;
  TracedFunction* function = nullptr;
};

Answer& remembered(const void* handle) {
  constexpr size_t slots = 64;  // more kernels than most steps of a model have
  static thread_local std::array<Answer, slots> answers;
  const auto bits = reinterpret_cast<uintptr_t>(handle);
  return answers[(bits >> 4 ^ bits >> 10) % slots];
}

std::atomic<uint64_t> generations = 0;  // of all tables: no two have one in common

}  // namespace

// NCCL's kernels wait for those of other GPUs, which the same thread may have yet to launch: waiting for one
// would wait for ever.
bool FunctionTable::wanted(const std::string& kernel) const {
  return !kernel.starts_with("nccl") && kernel_.matches(kernel);
}

FunctionTable::FunctionTable(Pattern kernel) : kernel_(std::move(kernel)), generation_(++generations) {}

// With the lock held.
void FunctionTable::answers_change() { generation_ = ++generations; }

TracedFunction* FunctionTable::find(const void* handle) const {
  Answer& answer = remembered(handle);
  const uint64_t now = generation_.load(std::memory_order_acquire);
  if (answer.handle == handle && answer.generation == now) return answer.function;
  const std::shared_lock lock(mutex_);
  const auto found = by_handle_.find(handle);
  if (found == by_handle_.end()) return nullptr;
  answer = {handle, generation_, found->second};
  return found->second;
}

TracedFunction& FunctionTable::add(const void* handle, const std::string& mangled) {
  const std::string kernel = demangled(mangled);
  const bool is_wanted = wanted(kernel);
  const std::unique_lock lock(mutex_);
  return *by_handle_.emplace(handle, &interned(kernel, 0, is_wanted)).first->second;
}

// With the lock held.
TracedFunction& FunctionTable::interned(const std::string& kernel, int64_t graph_kernels, bool is_wanted) {
  const auto [entry, is_new] = functions_.try_emplace({kernel, graph_kernels, is_wanted});
  TracedFunction& function = entry->second;
  if (!is_new) return function;
  function.kernel = kernel;
  function.graph_kernels = graph_kernels;
  function.wanted = is_wanted;
  on_new(kernel);
  return function;
}

void FunctionTable::add_graph(const void* handle, const std::vector<std::string>& names) {
  std::string chosen;
  bool any_wanted = false, blocked = false;
  for (const std::string& mangled : names) {
    const std::string kernel = demangled(mangled);
    const bool is_wanted = wanted(kernel);
    blocked |= kernel.starts_with("nccl");
    if (chosen.empty() || (!any_wanted && is_wanted)) chosen = kernel;
    any_wanted |= is_wanted;
  }
  const std::unique_lock lock(mutex_);
  by_handle_[handle] = &interned(chosen, static_cast<int64_t>(names.size()), any_wanted && !blocked);
  answers_change();
}

void FunctionTable::forget() {
  const std::unique_lock lock(mutex_);
  std::erase_if(by_handle_, [](const auto& entry) { return entry.second->graph_kernels == 0; });
  answers_change();
}

void FunctionTable::forget_graph(const void* handle) {
  const std::unique_lock lock(mutex_);
  if (by_handle_.erase(handle) > 0) answers_change();
}

std::map<std::string, int64_t> FunctionTable::launches() const {
  const std::shared_lock lock(mutex_);
  std::map<std::string, int64_t> all;
  for (const auto& [key, function] : functions_) all[function.kernel] += function.launches;
  return all;
}

}  // namespace attnprof
