// The kernels that the traced program launches: whether each is asked for is decided once, by its name.
#pragma once

#include <cuda.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/pattern.hpp"

namespace attnprof {

struct TracedFunction {
  std::string kernel;  // demangled; of a graph that of the kernel that is asked for, or its first
  int64_t graph_kernels = 0;
  bool wanted = false;
  std::atomic<int64_t> launches = 0;
};

class FunctionTable {
 public:
  explicit FunctionTable(Pattern kernel) : kernel_(std::move(kernel)) {}

  // The function or graph with this handle; `name` gives its mangled name when it is first seen. Valid until
  // forgotten and the reference given up.
  std::shared_ptr<TracedFunction> find(const void* handle, const std::function<std::string()>& name);
  // A graph was instantiated, of kernels with these mangled names.
  void add_graph(const void* handle, const std::vector<std::string>& names);
  // Handles may be given out anew: a module was unloaded.
  void forget();
  // Launches so far by demangled name.
  std::map<std::string, int64_t> launches() const;

  // Called for every name that is new, so that what was launched is known of a program that is killed.
  std::function<void(const std::string&)> on_new = [](const std::string&) {};

 private:
  bool wanted(const std::string& kernel) const;
  std::shared_ptr<TracedFunction> insert(const void* handle, std::shared_ptr<TracedFunction> function);

  Pattern kernel_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<TracedFunction>> functions_;
  std::map<std::string, int64_t> forgotten_;
};

}  // namespace attnprof
