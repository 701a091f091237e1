// Is the output right? Against fp64 on the device's own inputs, and those against the host's.
#pragma once

#include "measure/gpu/prepare.hpp"

namespace attnprof {

// Runs the operation once where its operands lie, from poisoned outputs, and compares sampled (or all) rows
// with an fp64 reference made on the device. Every element of the output must be finite, and one row of the
// reference is made again on the host from the seed: CaseFailed when the two disagree by more than 1e-9, for
// then nothing can be said. VerifyMode::off: runs once, unchecked.
Verification verify_output(const PreparedCase& prepared, const GpuDevice& gpu, VerifyMode mode);

}  // namespace attnprof
