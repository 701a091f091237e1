// What every run tells of itself in a .meta.json, whether it measured or made kernels.
#pragma once

#include <optional>
#include <string>

#include "base/json_names.hpp"
#include "measure/backend.hpp"
#include "measure/compile/kernel_tree.hpp"

namespace attnprof {

// When, by which program, on what command line, and the environment of `info`.
OrderedJson run_entry(const std::string& command_line, const BackendInfo& info);

// Where its kernels lie and their hash; nothing where the rows are of none.
void add_kernels(OrderedJson& entry, const std::optional<KernelTree>& kernels);

}  // namespace attnprof
