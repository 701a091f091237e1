// What ptxas says of each kernel it compiles (-Xptxas -v).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace attnprof {

struct PtxasReport {
  int registers = 0;  // a thread
  int64_t stack_bytes = 0;
  int64_t spill_store_bytes = 0;  // a thread
  int64_t spill_load_bytes = 0;
  int64_t static_smem_bytes = 0;  // a block
};

// The report of kernel `entry` in a compiler's output; nothing when it is not in it.
std::optional<PtxasReport> parse_ptxas(const std::string& log, const std::string& entry);

// The first line of a compiler's output that says "error" or "fatal"; its first line if none does.
std::string first_error_line(const std::string& log);

}  // namespace attnprof
