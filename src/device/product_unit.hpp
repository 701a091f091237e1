// The units of an SM that multiply matrices.
#pragma once

namespace attnprof {

// What multiplies: FMA pipes, tensor cores by warp (mma.sync) or warpgroup (wgmma), a library's choice of
// them.
enum class ProductUnit { none, fma, mma, wgmma, library };

}  // namespace attnprof
