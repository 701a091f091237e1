// cuBLAS, opened at run time: the matrix products of GemmLaunch steps.
#pragma once

#include <memory>
#include <string>

#include "measure/gpu/cuda_objects.hpp"
#include "problem/problem.hpp"
#include "schedule/step.hpp"

namespace attnprof {

// An operand on the device.
struct GemmMatrix {
  void* data;
  ElementType type;
};

class Cublas {
 public:
  // Throws EnvironmentError, with where it looked, when no libcublas (13 or 12) can be opened or it does not
  // start. The context must be current.
  explicit Cublas(const Stream& stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  void use(const Stream& stream);      // from now on
  const std::string& version() const;  // "13.0.2"
  // Enqueues gemm on a, b and c; products accumulate in fp32, no TF32. Throws CaseFailed, also for types that
  // the library does not multiply.
  void run(const GemmLaunch& gemm, const GemmMatrix& a, const GemmMatrix& b, const GemmMatrix& c) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace attnprof
