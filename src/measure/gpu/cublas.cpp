#include "measure/gpu/cublas.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "error.hpp"
#include "measure/gpu/cuda_paths.hpp"

// cublas_v2.h maps some of these names to versions; members and symbols follow it.
#define ATTNPROF_CUBLAS_FUNCTIONS(f) \
  f(cublasCreate);                   \
  f(cublasDestroy);                  \
  f(cublasSetStream);                \
  f(cublasSetMathMode);              \
  f(cublasGetProperty);              \
  f(cublasGetStatusName)
#define ATTNPROF_TEXT(x) #x
#define ATTNPROF_EXPANDED_TEXT(x) ATTNPROF_TEXT(x)

namespace attnprof {
namespace {

// The first that opens, with the library it needs beside it, which the loader does not look for there.
void* open_library() {
  std::vector<std::string> tried;
  for (const char* major : {"13", "12"})
    for (const std::string& path : cuda_library_paths(fmt::format("libcublas.so.{}", major))) {
      std::string lt = path;
      lt.replace(lt.rfind("libcublas"), 9, "libcublasLt");
      dlopen(lt.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (void* handle = dlopen(path.c_str(), RTLD_NOW)) return handle;
      tried.push_back(path);
    }
  throw EnvironmentError(
      fmt::format("cuBLAS was not found, and this variant's matrix products run on it; install the CUDA "
                  "toolkit's libcublas or set CUDA_HOME (tried {})",
                  fmt::join(tried, ", ")));
}

cudaDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return CUDA_R_32F;
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
  }
  return CUDA_R_32F;
}

}  // namespace

struct Cublas::Library {
#define ATTNPROF_DECLARE(name) decltype(&::name) name = nullptr
  ATTNPROF_CUBLAS_FUNCTIONS(ATTNPROF_DECLARE);
#undef ATTNPROF_DECLARE
  // By hand: the header overloads it, so that it has no one address.
  cublasStatus_t (*gemm)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                         const void* alpha, const void* a, cudaDataType_t, int lda, long long stride_a,
                         const void* b, cudaDataType_t, int ldb, long long stride_b, const void* beta,
                         void* c, cudaDataType_t, int ldc, long long stride_c, int count, cublasComputeType_t,
                         cublasGemmAlgo_t) = nullptr;
  cublasHandle_t handle = nullptr;
  std::string version;

  template <class Function>
  static void find(void* opened, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(opened, name));
    if (!function) throw EnvironmentError(fmt::format("this libcublas is too old: it lacks {}", name));
  }
  void resolve(void* opened) {
#define ATTNPROF_RESOLVE(name) find(opened, ATTNPROF_EXPANDED_TEXT(name), name)
    ATTNPROF_CUBLAS_FUNCTIONS(ATTNPROF_RESOLVE);
    find(opened, "cublasGemmStridedBatchedEx", gemm);
#undef ATTNPROF_RESOLVE
  }
  std::string name_of(cublasStatus_t status) const { return cublasGetStatusName(status); }
};

Cublas::Cublas(const Stream& stream) : library_(std::make_unique<Library>()) {
  Library& l = *library_;
  l.resolve(open_library());
  if (const cublasStatus_t status = l.cublasCreate(&l.handle); status != CUBLAS_STATUS_SUCCESS)
    throw EnvironmentError(
        fmt::format("cuBLAS does not start on this GPU: cublasCreate returned {}; is its "
                    "version older than the GPU or newer than the driver?",
                    l.name_of(status)));
  l.cublasSetStream(l.handle, stream.get());
  // Sums of split products stay in fp32 too.
  l.cublasSetMathMode(l.handle, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                          CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
  int major = 0, minor = 0, patch = 0;
  l.cublasGetProperty(MAJOR_VERSION, &major);
  l.cublasGetProperty(MINOR_VERSION, &minor);
  l.cublasGetProperty(PATCH_LEVEL, &patch);
  l.version = fmt::format("{}.{}.{}", major, minor, patch);
}

Cublas::~Cublas() {
  if (library_->handle) library_->cublasDestroy(library_->handle);
}

const std::string& Cublas::version() const { return library_->version; }

// cuBLAS is column-major: row-major C = A op(B) is its C^T = op(B)^T A^T, with the same memory.
void Cublas::run(const GemmLaunch& g, Dtype dtype, const void* a, const void* b, void* c) const {
  const float beta = 0;
  const cudaDataType_t type = type_of(dtype);
  const cublasStatus_t status = library_->gemm(
      library_->handle, g.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(g.n),
      static_cast<int>(g.m), static_cast<int>(g.k), &g.alpha, b, type, static_cast<int>(g.ldb), g.stride_b, a,
      type, static_cast<int>(g.lda), g.stride_a, &beta, c, type, static_cast<int>(g.ldc), g.stride_c,
      static_cast<int>(g.count), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  if (status != CUBLAS_STATUS_SUCCESS)
    throw CaseFailed(fmt::format("cublasGemmStridedBatchedEx of {} products {} x {} x {} failed: {}", g.count,
                                 g.m, g.n, g.k, library_->name_of(status)));
}

}  // namespace attnprof
