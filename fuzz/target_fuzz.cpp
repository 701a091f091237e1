// libFuzzer target: any text as a target file. What is accepted is a device that can be simulated.
#include <cmath>
#include <cstdlib>

#include "base/error.hpp"
#include "device/bandwidths.hpp"
#include "device/profile_file.hpp"

namespace attnprof {
namespace {

// Ends the program so that libFuzzer keeps the input.
void require(bool holds) {
  if (!holds) std::abort();
}

void check(const DeviceProfile& device) {
  require(!device.name.empty() && !device.arch.empty() && !is_built_in(device.name));
  require(device.sms > 0 && device.max_ctas_per_sm > 0 && device.max_threads_per_sm > 0);
  require(device.smem_per_block_bytes > 0 && device.smem_per_block_bytes <= device.smem_per_sm_bytes);
  require(device.l2_bytes > 0 && device.l2_dirty_bytes >= 0 && device.l2_dirty_bytes <= device.l2_bytes);
  for (const PeakFigure& figure : peak_figures) {
    const double rate = device.*figure.rate;
    require(std::isfinite(rate) && rate >= 0 && rate < 1e12);
  }
  L2Point last{0, 0};
  for (const L2Point& point : device.l2_curve) {
    require(point.mebibytes > last.mebibytes && point.miss_share >= last.miss_share && point.miss_share <= 1);
    last = point;
  }
}

void fuzz(const std::string& text) {
  try {
    check(parse_profile("target.json", text));
  } catch (const UsageError&) {
  }
}

}  // namespace
}  // namespace attnprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attnprof::fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
