// A loop on several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace attnprof {

// Calls work(0) .. work(count - 1), each once, on up to `threads` threads, the caller's among them. After an
// exception no further call is begun, and the first is thrown again when all threads have ended.
void for_each_in_parallel(int64_t count, size_t threads, const std::function<void(int64_t)>& work);

}  // namespace attnprof
