// A device whose rates are round numbers, for times worked out by hand.
#pragma once

#include "device/device_profile.hpp"

namespace attnprof {

// HBM 1 TB/s, L2 4, tensor cores 100 TFLOP/s, FMA pipes 10, 1e12 exponentials a second.
inline DeviceProfile round_device() {
  DeviceProfile d;
  d.hbm_gbps = 1000;
  d.l2_gbps = 4000;
  d.tensor_16bit_tflops = 100;
  d.fp32_tflops = 10;
  d.exp_gops = 1000;
  return d;
}

}  // namespace attnprof
