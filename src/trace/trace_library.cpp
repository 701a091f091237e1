#include "trace/trace_library.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "error.hpp"
#include "measure/compile/places.hpp"

#ifndef ATTNPROF_LIBDIR
#define ATTNPROF_LIBDIR "lib"
#endif

namespace attnprof {

std::string find_trace_library() {
  const auto ancestors = program_ancestors();
  if (!ancestors.empty())
    for (const auto& folder : {ancestors.front(), ancestors.front().parent_path() / ATTNPROF_LIBDIR,
                               ancestors.front().parent_path() / "lib"}) {
      std::error_code ignored;
      if (std::filesystem::exists(folder / trace_library_name, ignored)) return folder / trace_library_name;
    }
  throw EnvironmentError(
      fmt::format("{} is neither beside the program ({}) nor in lib of its prefix; build or "
                  "install attnprof again",
                  trace_library_name, ancestors.empty() ? "unknown" : ancestors.front().string()));
}

}  // namespace attnprof
