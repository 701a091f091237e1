#include "measure/gpu/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "measure/gpu/cuda_paths.hpp"

#define ATTNPROF_TEXT(x) #x
#define ATTNPROF_EXPANDED_TEXT(x) ATTNPROF_TEXT(x)

namespace attnprof {
namespace {

template <class Function>
void resolve(void* library, const char* versioned, const char* name, Function& function) {
  void* found = dlsym(library, versioned);
  // Since CUDA 12.8 a second version with the same signature; drivers before it have only the first.
  if (!found && std::string_view(name) == "cuEventElapsedTime") found = dlsym(library, name);
  if (!found)
    throw EnvironmentError(
        fmt::format("{} is too old a driver: it lacks {}", library_path(library, "libcuda"), versioned));
  function = reinterpret_cast<Function>(found);
}

[[noreturn]] void refuse(CUresult result, const Driver& opened) {
  if (result == CUDA_ERROR_STUB_LIBRARY)
    throw EnvironmentError(fmt::format(
        "{} is the CUDA toolkit's stub, not a driver: it is there for linking only; take the toolkit's stubs "
        "directory out of LD_LIBRARY_PATH, or use --backend sim",
        opened.path));
  if (result == CUDA_ERROR_NO_DEVICE)
    throw EnvironmentError(
        "the NVIDIA driver finds no GPU: check nvidia-smi, CUDA_VISIBLE_DEVICES and whether the container "
        "was given one (docker: --gpus all), or use --backend sim");
  const char* name = nullptr;
  opened.cuGetErrorName(result, &name);
  throw EnvironmentError(
      fmt::format("the NVIDIA driver {} does not start: cuInit returned "
                  "{} ({}); check nvidia-smi, or use --backend sim",
                  opened.path, static_cast<int>(result), name ? name : "unknown error"));
}

Driver start_driver(void* handle) {
  Driver opened;
  opened.path = library_path(handle, "libcuda");
#define ATTNPROF_RESOLVE(name) resolve(handle, ATTNPROF_EXPANDED_TEXT(name), #name, opened.name)
  ATTNPROF_DRIVER_FUNCTIONS(ATTNPROF_RESOLVE);
#undef ATTNPROF_RESOLVE
#define ATTNPROF_RESOLVE(name) \
  opened.name = reinterpret_cast<decltype(opened.name)>(dlsym(handle, ATTNPROF_EXPANDED_TEXT(name)))
  ATTNPROF_OPTIONAL_DRIVER_FUNCTIONS(ATTNPROF_RESOLVE);
#undef ATTNPROF_RESOLVE
  if (const CUresult result = opened.cuInit(0); result != CUDA_SUCCESS) refuse(result, opened);
  int count = 0;
  if (opened.cuDeviceGetCount(&count) != CUDA_SUCCESS || count == 0) refuse(CUDA_ERROR_NO_DEVICE, opened);
  opened.cuDriverGetVersion(&opened.version);
  return opened;
}

}  // namespace

Driver open_driver(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  if (!handle) {
    const char* why = dlerror();
    throw EnvironmentError(fmt::format("no NVIDIA driver: {} ({}); install the driver, or use --backend sim",
                                       library, why ? why : "cannot be opened"));
  }
  try {
    return start_driver(handle);
  } catch (...) {
    dlclose(handle);  // a stub that stayed loaded would stand in for the driver from then on
    throw;
  }
}

const Driver& driver() {
  static const Driver opened = open_driver("libcuda.so.1");
  return opened;
}

std::string describe(CUresult result) {
  const char* name = nullptr;
  const char* meaning = nullptr;
  driver().cuGetErrorName(result, &name);
  driver().cuGetErrorString(result, &meaning);
  return fmt::format("{} ({})", name ? name : fmt::format("CUDA error {}", static_cast<int>(result)),
                     meaning ? meaning : "unknown");
}

void check_driver(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  throw CudaError(result, fmt::format("{} failed: {}", call, describe(result)));
}

int device_count() {
  int count = 0;
  ATTNPROF_CU(cuDeviceGetCount, &count);
  return count;
}

void require_device(int index) {
  const int count = device_count();
  if (index >= 0 && index < count) return;
  const std::string last = count == 1 ? "device 0" : fmt::format("devices 0 to {}", count - 1);
  throw EnvironmentError(fmt::format("--device {}: this machine has {} only", index, last));
}

}  // namespace attnprof
