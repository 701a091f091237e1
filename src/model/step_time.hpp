// Time of a launch on a device, as a roofline over its resources.
#pragma once

#include "device/device_profile.hpp"
#include "model/predict.hpp"

namespace attnprof {

// Bytes a clock between an SM and L2: CUDA architectures since Volta move two sectors.
constexpr double sm_link_bytes = 64;

// ns of a step: launch cost, then the resource that needs longest. What SMs do (tensor, fma, exp) takes as
// long as the SM with most blocks; a grid with fewer blocks than SMs draws on L2 with those SMs' links alone.
double step_time_ns(const StepPrediction& step, const DeviceProfile& device);

// The step that takes longest; 0 when there are none.
size_t longest_step(const Prediction& prediction, const DeviceProfile& device);

}  // namespace attnprof
