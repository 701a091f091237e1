#include "trace/trace_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/trusted_path.hpp"

#ifndef ATTNPROF_LIBDIR
#define ATTNPROF_LIBDIR "lib"
#endif

namespace attnprof {
namespace {

// The driver says nothing of a library that it cannot load.
std::string that_loads(const std::string& library) {
  require_trusted(library, "the tracing library");
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw EnvironmentError(fmt::format("the tracing library cannot be loaded: {}", dlerror()));
  dlclose(handle);
  return library;
}

}  // namespace

std::string find_trace_library() {
  const std::filesystem::path program = program_folder();
  for (const auto& folder :
       {program, program.parent_path() / ATTNPROF_LIBDIR, program.parent_path() / "lib"}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / trace_library_name, ignored))
      return that_loads(folder / trace_library_name);
  }
  throw EnvironmentError(fmt::format(
      "{} is neither beside the program ({}) nor in lib of its prefix; build or install attnprof again",
      trace_library_name, program.string()));
}

}  // namespace attnprof
