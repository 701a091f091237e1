// What each resource of a device does at most, and where the figure comes from.
#pragma once

#include <optional>
#include <string>

#include "device/ceilings.hpp"
#include "device/product_unit.hpp"
#include "problem/problem.hpp"

namespace attnprof {

// 0: not known.
struct Rate {
  double value = 0;
  std::string source;  // "ceiling hbm_read_gbps", "nominal hbm_gbps"
  bool known() const { return value > 0; }
};

// For operands of one dtype, at one SM clock. GB/s, TFLOP/s, 1e9 exponentials a second, ns.
struct Rates {
  Rate hbm_read, hbm_write, l2;  // of memory: device/bandwidths.hpp says which belong together
  Rate smem;
  Rate fma, exp;
  Rate mma;                  // tensor_rate as mma.sync drives them
  Rate wgmma;                // and the faster way, which is wgmma's or mma.sync's alone
  Rate launch_ns, floor_ns;  // a launch after another; an operation of one empty launch, as it is timed
  bool measured = false;     // some are ceilings

  // Of the tensor cores as `unit` drives them; a library's products use the faster way.
  const Rate& tensor(ProductUnit unit) const { return unit == ProductUnit::mma ? mma : wgmma; }
};

// What tensor cores do at most with operands of `dtype` (of fp32: what they do with fp16), as `unit` drives
// them (anything but mma: the fastest way there is), in TFLOP/s: the one place that decides it. The ceiling
// of that dtype and way; else the nominal rate, on Hopper for mma.sync its usual share of it. A ceiling of
// mma.sync does not stand in for a faster way that was not measured. `sm_clock_mhz` as in rates_at.
Rate tensor_rate(const DeviceProfile& device, const Ceilings& ceilings, Dtype dtype, ProductUnit unit,
                 std::optional<double> sm_clock_mhz);

// The device with what was measured in place of nominal rates, as operands of `dtype` see it: of its tensor
// figure tensor_rate, of each other figure the fastest ceiling that stands beside it (HBM reads); all as
// measured, whatever the clock was.
DeviceProfile at_ceilings(DeviceProfile device, const Ceilings& ceilings, Dtype dtype);

// Measured ceilings where there are any, else the device's nominal rates. `sm_clock_mhz`: of the row, to
// which those that go with the SMs' clock are scaled; absent: as they are.
Rates rates_at(const DeviceProfile& device, const Ceilings& ceilings, Dtype dtype,
               std::optional<double> sm_clock_mhz);

}  // namespace attnprof
