// The kernels that the traced program launches: whether each is asked for is decided once, by its name.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <shared_mutex>
#include <string>
#include <tuple>
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

// For any thread. Functions are kept by what they are, and never freed: what `find` and the others return
// lives as long as the table, and as many are kept as there are names.
class FunctionTable {
 public:
  explicit FunctionTable(Pattern kernel);

  // The function or graph with this handle, null where it is new. Every launch of the program asks: what a
  // thread was last answered it finds without the lock.
  TracedFunction* find(const void* handle) const;
  // A kernel's function that `find` does not know.
  TracedFunction& add(const void* handle, const std::string& mangled);
  // A graph was instantiated, of kernels with these mangled names.
  void add_graph(const void* handle, const std::vector<std::string>& names);
  // Handles of functions may be given out anew: a module is unloaded.
  void forget();
  // So may this one, of a graph that is destroyed or has no kernels.
  void forget_graph(const void* handle);
  // Launches so far by demangled name.
  std::map<std::string, int64_t> launches() const;

  // Called for every function or graph that is new, so that what was launched is known of a program that is
  // killed.
  std::function<void(const std::string&)> on_new = [](const std::string&) {};

 private:
  using Key = std::tuple<std::string, int64_t, bool>;

  bool wanted(const std::string& kernel) const;
  TracedFunction& interned(const std::string& kernel, int64_t graph_kernels, bool wanted);
  void answers_change();

  Pattern kernel_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, TracedFunction*> by_handle_;
  std::map<Key, TracedFunction> functions_;  // its nodes stay where they are
  std::atomic<uint64_t> generation_;         // of the answers that threads remember
};

}  // namespace attnprof
