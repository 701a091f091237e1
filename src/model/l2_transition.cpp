#include "model/l2_transition.hpp"

#include <array>
#include <cmath>

#include "model/predict.hpp"

namespace attnprof {
namespace {

constexpr double slack = 0.15;
constexpr double steady_share = 0.01;

DeviceProfile with_l2_scaled(DeviceProfile device, double factor) {
  const auto scale = [factor](int64_t& bytes) { bytes = std::llround(factor * static_cast<double>(bytes)); };
  scale(device.l2_bytes);
  scale(device.l2_dirty_bytes);
  for (L2Point& point : device.l2_curve) point.mebibytes *= factor;
  return device;
}

// A few slices of a large case stand for the whole: enough to see which way it leans.
double rough_hbm_bytes(const Case& c, const DeviceProfile& device) {
  const Model model = predict_steps(c, device, {.accesses = 200'000}).model;
  return static_cast<double>(model.hbm_bytes.value_or(0));
}

}  // namespace

bool l2_in_transition(const Case& c, const DeviceProfile& device) {
  const double modelled = rough_hbm_bytes(c, device);
  for (const double factor : std::array{1 - slack, 1 + slack}) {
    const double other = rough_hbm_bytes(c, with_l2_scaled(device, factor));
    if (std::abs(other - modelled) > steady_share * modelled) return true;
  }
  return false;
}

}  // namespace attnprof
