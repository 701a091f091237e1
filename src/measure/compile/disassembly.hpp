// Where a kernel's machine code loads from and stores to local memory, by NVIDIA's disassembler.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace attnprof {

// Instructions of one kernel, each counted once, whatever loops it is in.
struct LocalAccesses {
  int64_t loads = 0, stores = 0;
};

// By the names of the functions in nvdisasm's text.
std::map<std::string, LocalAccesses> parse_disassembly(std::string_view text);

// Of a cubin, by the nvdisasm at `program`. Throws EnvironmentError beginning with `where` when it fails.
std::map<std::string, LocalAccesses> local_accesses(std::string_view cubin, const std::string& program,
                                                    const std::string& where);

}  // namespace attnprof
