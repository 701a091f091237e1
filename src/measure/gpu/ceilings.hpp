// Measures what a GPU does at most, one resource at a time.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device/ceilings.hpp"
#include "measure/backend.hpp"

namespace attnprof {

class GpuDevice;
class KernelCompiler;

struct MeasuredCeilings {
  Ceilings ceilings;
  std::vector<std::string> notices;  // what could not be measured, and why: a sentence each
};

// Called after each is measured.
using CeilingObserver = std::function<void(std::string_view name, const Ceiling& ceiling)>;

// Those of `wanted` (names of ceiling_kinds; empty: all) that this GPU has, on random data, each the median
// of some 40 launches of about 1 ms after a warm-up. Compiles what it needs. Throws CudaError, CaseFailed.
MeasuredCeilings measure_ceilings(GpuDevice& gpu, KernelCompiler& compiler,
                                  const std::set<std::string, std::less<>>& wanted = {},
                                  const CeilingObserver& measured = {});

// The same on a device that is opened for it. Throws EnvironmentError where the GPU cannot be used.
MeasuredCeilings measure_ceilings(const MeasureOptions& options,
                                  const std::set<std::string, std::less<>>& wanted = {},
                                  const CeilingObserver& measured = {});

// All of them, measured anew; `device` is opened for it and named, and later sweeps find them. Throws like
// that.
struct RenewedCeilings {
  DeviceProfile device;
  MeasuredCeilings measured;
};
RenewedCeilings renew_ceilings(const MeasureOptions& options, const CeilingObserver& measured);

// Those of all its ceilings that were measured earlier on this GPU, by the same driver and kernels, else
// measured now and kept. Also by other processes: they are in the compiler's cache folder.
MeasuredCeilings known_ceilings(GpuDevice& gpu, KernelCompiler& compiler);

}  // namespace attnprof
