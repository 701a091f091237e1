// Names of kernels for people: short enough for a table.
#pragma once

#include <string>

namespace attnprof {

// A demangled name without return type and parameters. What is longer than 80 characters then loses its
// template arguments, and keeps a hash of the whole name instead, so that two instances stay apart:
// "flash::flash_fwd_kernel<#1a2b3c4d>".
std::string short_kernel_name(const std::string& demangled_name);

}  // namespace attnprof
