// What each resource of a device does at most, and where the figure comes from.
#pragma once

#include <optional>
#include <string>

#include "plan/problem.hpp"
#include "roofline/ceilings.hpp"
#include "variants/step.hpp"

namespace attnprof {

// 0: not known.
struct Rate {
  double value = 0;
  std::string source;  // "ceiling hbm_read_gbps", "nominal hbm_gbps"
  bool known() const { return value > 0; }
};

// For operands of one dtype, at one SM clock. GB/s, TFLOP/s, 1e9 exponentials a second, ns.
struct Rates {
  Rate hbm_read, hbm_write, l2, smem;
  Rate fma, mma, wgmma, exp;
  Rate launch_ns, floor_ns;  // a launch after another; an operation of one empty launch, as it is timed
  bool measured = false;     // some are ceilings

  // Of the tensor cores as `unit` drives them; a library's products use the faster way.
  const Rate& tensor(ProductUnit unit) const { return unit == ProductUnit::mma ? mma : wgmma; }
};

// Measured ceilings where there are any, else the device's nominal rates. `sm_clock_mhz`: of the row, to
// which those that go with the SMs' clock are scaled; absent: as they are.
Rates rates_at(const DeviceProfile& device, const Ceilings& ceilings, Dtype dtype,
               std::optional<double> sm_clock_mhz);

}  // namespace attnprof
