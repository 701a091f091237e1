// The library that a traced program loads.
#pragma once

#include <string>

namespace attnprof {

inline constexpr const char* trace_library_name = "libattnprof_trace.so";

// Its path: beside the program, or in the lib folder of an installed program's prefix. Throws
// EnvironmentError where it is in neither or cannot be loaded.
std::string find_trace_library();

}  // namespace attnprof
