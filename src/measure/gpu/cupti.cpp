#include "measure/gpu/cupti.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "base/trusted_path.hpp"
#include "measure/gpu/counter_error.hpp"
#include "measure/gpu/cuda_paths.hpp"

namespace attnprof {
namespace {

template <class Function>
void resolve(void* library, const char* name, Function& function, const std::string& path) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    throw EnvironmentError(
        fmt::format("{} has no {}: it is older than CUPTI {}.{}, which this program was built for", path,
                    name, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10));
}

Cupti bind_functions(void* library, const std::string& path) {
  Cupti table;
  table.path = path;
#define ATTNPROF_RESOLVE(name) resolve(library, #name, table.name, path)
  ATTNPROF_CUPTI_FUNCTIONS(ATTNPROF_RESOLVE);
#undef ATTNPROF_RESOLVE
  table.cuptiGetVersion(&table.version);
  return table;
}

// CUPTI opens its two companions by bare name. A toolkit's folder is on the loader's path, a wheel's is not;
// a library that is already open under its name is found in either case.
void* open_library(const std::string& path) {
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
    const std::filesystem::path companion = std::filesystem::path(path).parent_path() / name;
    if (companion.has_parent_path()) require_trusted(companion, "the library");
    dlopen(companion.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// One library and no other, for people with several and for tests.
Cupti open_named(const std::string& path) {
  if (path.find('/') != std::string::npos) require_trusted(path, "the library");
  if (void* library = open_library(path)) return bind_functions(library, path);
  throw EnvironmentError(fmt::format("CUPTI cannot be opened at {}, which ATTNPROF_CUPTI names", path));
}

// What the process has open already, as a traced one may: two copies would be two clients of one driver.
void* opened_before() {
  return dlopen(fmt::format("libcupti.so.{}", CUDA_VERSION / 1000).c_str(), RTLD_NOW | RTLD_NOLOAD);
}

Cupti open() {
  if (const char* named = std::getenv("ATTNPROF_CUPTI"); named && *named) return open_named(named);
  if (void* library = opened_before()) return bind_functions(library, library_path(library, "libcupti"));
  for (const std::string& file :
       {fmt::format("libcupti.so.{}", CUDA_VERSION / 1000), std::string("libcupti.so")})
    for (const std::string& path : cuda_library_paths(file))
      if (void* library = open_library(path)) return bind_functions(library, path);
  throw EnvironmentError(fmt::format(
      "CUPTI (libcupti.so.{}) was not found in {} or on the loader's path: install the CUDA Toolkit or the "
      "Python wheel nvidia-cuda-cupti, or set CUDA_HOME or ATTNPROF_CUPTI",
      CUDA_VERSION / 1000, fmt::join(cuda_library_folders(), ", ")));
}

}  // namespace

const Cupti& cupti() {
  static const Cupti table = open();
  return table;
}

void check_cupti(CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw EnvironmentError(explain_counter_error(result, call));
}

}  // namespace attnprof
