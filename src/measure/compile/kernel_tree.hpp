// Which kernel sources a run has: where they lie and a hash of all of them, for reports of what was compared.
#pragma once

#include <optional>
#include <string>

namespace attnprof {

struct KernelTree {
  std::string path, hash;  // 16 hexadecimal digits, of names and contents
};

// Of find_kernels_dir(option); nothing where there is none, which who needs it says.
std::optional<KernelTree> kernel_tree(const std::string& option);

}  // namespace attnprof
