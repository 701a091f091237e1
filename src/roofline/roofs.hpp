// The roofs of a device: bandwidths and peaks, and where each figure comes from.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "device/ceilings.hpp"
#include "device/device_profile.hpp"
#include "roofline/levels.hpp"

namespace attnprof {

// A device as rows of one run are held against it.
struct RunDevice {
  DeviceProfile profile;                             // a rate is 0 where neither source has it
  std::set<std::string, std::less<>> recorded;       // rates (peak_figures) that are the run's own
  std::set<std::string, std::less<>> measured = {};  // those that are ceilings
};

// `name`: of the rows' device column. The run's recorded rates where there are any, else those of the
// built-in profile of that name.
RunDevice device_of_run(const std::string& name, const Peaks& recorded);

// The same with its run's ceilings in place of nominal rates, as operands of `dtype` see it: what roofs are
// drawn by.
RunDevice at_ceilings(RunDevice device, const Ceilings& ceilings, Dtype dtype);

enum class RoofKind { bandwidth, peak };

struct Roof {
  std::string device;
  std::string name;   // of a level's bandwidth; tensor, tensor_fp8, fma
  std::string level;  // bandwidths: the level whose intensity they hold for; empty for peaks
  RoofKind kind = RoofKind::peak;
  double value = 0;    // GB/s of a bandwidth, TFLOP/s of a peak
  std::string source;  // "ceiling" (measured), "run" (its .meta.json) or "profile" (built in)
  std::string dtype;   // of the operands it was measured with; empty where it holds for others too

  std::string title() const { return dtype.empty() ? name : name + " " + dtype; }
};

// The bandwidth of each level, peaks of tensor cores with operands of `dtype` and of FMA pipes. What is not
// known is not among them.
std::vector<Roof> roofs_of(const RunDevice& device, Dtype dtype,
                           std::span<const Level> levels = memory_levels());

// What roofs_of leaves out, as a sentence; empty when all are known.
std::string missing_roofs(const RunDevice& device, Dtype dtype,
                          std::span<const Level> levels = memory_levels());

}  // namespace attnprof
