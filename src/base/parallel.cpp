#include "base/parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace attnprof {

void for_each_in_parallel(int64_t count, size_t threads, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto take_turns = [&] {
    try {
      for (int64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (size_t i = 1; i < threads && static_cast<int64_t>(i) < count; ++i) others.emplace_back(take_turns);
    } catch (const std::system_error&) {  // the limit of threads is reached: those there are do all of it
    }
    take_turns();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace attnprof
