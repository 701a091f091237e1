// What attnprof calls of cuBLAS 12 and 13, declared here because the library is opened at run time and its
// headers come only with a download of 420 MB. Values and symbols are those of the library's stable C
// interface.
#pragma once

#include <cuda.h>

namespace attnprof::cublas_abi {

using Handle = struct Context*;
using BlasStatus = int;  // 0: success

enum class Operation : int { none = 0, transpose = 1 };
enum class DataType : int { fp32 = 0, fp16 = 2, bf16 = 14 };
enum class ComputeType : int { fp32 = 68 };
enum class Algorithm : int { automatic = -1 };
enum class Property : int { major_version = 0, minor_version = 1, patch_level = 2 };
// The default mode (no TF32) with sums of split products kept in fp32 too.
enum class MathMode : int { no_reduced_precision_reduction = 16 };

using Create = BlasStatus(Handle*);
using Destroy = BlasStatus(Handle);
using SetStream = BlasStatus(Handle, CUstream);
using SetMathMode = BlasStatus(Handle, MathMode);
using GetProperty = BlasStatus(Property, int*);
using GetStatusName = const char*(BlasStatus);
// C = alpha op(A) op(B) + beta C, `count` times, `stride_*` elements apart; column-major.
using GemmStridedBatchedEx = BlasStatus(Handle, Operation op_a, Operation op_b, int m, int n, int k,
                                        const void* alpha, const void* a, DataType, int lda,
                                        long long stride_a, const void* b, DataType, int ldb,
                                        long long stride_b, const void* beta, void* c, DataType, int ldc,
                                        long long stride_c, int count, ComputeType, Algorithm);

}  // namespace attnprof::cublas_abi
