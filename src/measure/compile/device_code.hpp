// The cubins in a file: a cubin itself, a fatbin, or an object file, library or executable with fatbins in
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace attnprof {

struct DeviceCode {
  size_t cubins = 0, ptx = 0;
};

// Calls `visit` with the bytes of every cubin, in the order of the file, those that are compressed
// decompressed. Throws UsageError for what is none of these files or is cut short, EnvironmentError where a
// library that decompresses is missing; each begins with `where`.
DeviceCode for_each_cubin(std::string_view file, const std::string& where,
                          const std::function<void(std::string_view cubin)>& visit);

}  // namespace attnprof
