// What a cubin says of its kernels, without NVIDIA's tools. Its format is not documented; what is read here
// is what `cuobjdump --dump-resource-usage` and `-elf` print of the same files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

struct CubinKernel {
  std::string name;  // as it is called in the file: mangled
  int registers = 0;
  int64_t stack_bytes = 0;          // a thread, functions that it calls included
  int64_t smem_bytes = 0;           // static, a block
  int64_t constant_bytes = 0;       // of its own banks, parameters included
  std::optional<int> most_threads;  // a block, of __launch_bounds__ or the like; nothing: it does not say
  std::string code_hash;
};

struct Cubin {
  std::string arch;      // "sm_90a"; without a or f where the file does not say what it was built for
  std::string compiler;  // version of ptxas or nvlink, "13.0.88"; empty in files of older ones
  std::vector<CubinKernel> kernels;
};

// Whether these bytes begin as a cubin does.
bool is_cubin(std::string_view bytes);

// Throws UsageError beginning with `where` for what is cut short or contradicts itself.
Cubin read_cubin(std::string_view bytes, const std::string& where);

// The name of a kernel for people and for matching it with another build of the same source: demangled,
// without what the compiler adds to names that a source file keeps to itself.
std::string kernel_title(std::string_view name);

}  // namespace attnprof
