#include "measure/gpu/cublas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/trusted_path.hpp"
#include "measure/gpu/cublas_abi.hpp"
#include "measure/gpu/cuda_paths.hpp"

namespace attnprof {
namespace {

using namespace cublas_abi;

// The first that opens, with the library it needs beside it, which the loader does not look for there.
void* open_library() {
  std::vector<std::string> tried;
  for (const char* major : {"13", "12"})
    for (const std::string& path : cuda_library_paths(fmt::format("libcublas.so.{}", major))) {
      std::string lt = path;
      lt.replace(lt.rfind("libcublas"), 9, "libcublasLt");
      if (lt.find('/') != std::string::npos) require_trusted(lt, "the library");
      dlopen(lt.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (void* handle = dlopen(path.c_str(), RTLD_NOW)) return handle;
      tried.push_back(path);
    }
  throw EnvironmentError(
      fmt::format("cuBLAS was not found, and this variant's matrix products run on it; install the CUDA "
                  "toolkit's libcublas or set CUDA_HOME (tried {})",
                  fmt::join(tried, ", ")));
}

DataType data_type(ElementType type) {
  switch (type) {
    case ElementType::fp32:
      return DataType::fp32;
    case ElementType::fp16:
      return DataType::fp16;
    case ElementType::bf16:
      return DataType::bf16;
    case ElementType::e4m3:
    case ElementType::int32:
      break;
  }
  throw CaseFailed(fmt::format("a strided batched product of cuBLAS takes no {}", to_string(type)));
}

template <class Function>
Function* find(void* opened, const char* name) {
  void* symbol = dlsym(opened, name);
  if (!symbol) throw EnvironmentError(fmt::format("this libcublas is too old: it lacks {}", name));
  return reinterpret_cast<Function*>(symbol);
}

}  // namespace

struct Cublas::Library {
  explicit Library(void* opened)
      : create(find<Create>(opened, "cublasCreate_v2")),
        destroy(find<Destroy>(opened, "cublasDestroy_v2")),
        set_stream(find<SetStream>(opened, "cublasSetStream_v2")),
        set_math_mode(find<SetMathMode>(opened, "cublasSetMathMode")),
        get_property(find<GetProperty>(opened, "cublasGetProperty")),
        name_of(find<GetStatusName>(opened, "cublasGetStatusName")),
        gemm(find<GemmStridedBatchedEx>(opened, "cublasGemmStridedBatchedEx")) {}

  Create* create;
  Destroy* destroy;
  SetStream* set_stream;
  SetMathMode* set_math_mode;
  GetProperty* get_property;
  GetStatusName* name_of;
  GemmStridedBatchedEx* gemm;
  Handle handle = nullptr;
  std::string version;
};

Cublas::Cublas(const Stream& stream) : library_(std::make_unique<Library>(open_library())) {
  Library& l = *library_;
  if (const BlasStatus status = l.create(&l.handle); status != 0)
    throw EnvironmentError(
        fmt::format("cuBLAS does not start on this GPU: cublasCreate returned {}; is its "
                    "version older than the GPU or newer than the driver?",
                    l.name_of(status)));
  use(stream);
  l.set_math_mode(l.handle, MathMode::no_reduced_precision_reduction);
  int major = 0, minor = 0, patch = 0;
  l.get_property(Property::major_version, &major);
  l.get_property(Property::minor_version, &minor);
  l.get_property(Property::patch_level, &patch);
  l.version = fmt::format("{}.{}.{}", major, minor, patch);
}

void Cublas::use(const Stream& stream) { library_->set_stream(library_->handle, stream.get()); }

Cublas::~Cublas() {
  if (library_->handle) library_->destroy(library_->handle);
}

const std::string& Cublas::version() const { return library_->version; }

// cuBLAS is column-major: row-major C = op(A) op(B) is its C^T = op(B)^T op(A)^T, with the same memory.
void Cublas::run(const GemmLaunch& g, const GemmMatrix& a, const GemmMatrix& b, const GemmMatrix& c) const {
  const auto operation = [](bool transpose) { return transpose ? Operation::transpose : Operation::none; };
  const BlasStatus status = library_->gemm(
      library_->handle, operation(g.transpose_b), operation(g.transpose_a), static_cast<int>(g.n),
      static_cast<int>(g.m), static_cast<int>(g.k), &g.alpha, b.data, data_type(b.type),
      static_cast<int>(g.ldb), g.stride_b, a.data, data_type(a.type), static_cast<int>(g.lda), g.stride_a,
      &g.beta, c.data, data_type(c.type), static_cast<int>(g.ldc), g.stride_c, static_cast<int>(g.count),
      ComputeType::fp32, Algorithm::automatic);
  if (status != 0)
    throw CaseFailed(fmt::format("cublasGemmStridedBatchedEx of {} products {} x {} x {} failed: {}", g.count,
                                 g.m, g.n, g.k, library_->name_of(status)));
}

}  // namespace attnprof
