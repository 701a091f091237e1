// What was counted of launches that cannot be repeated.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "measure/gpu/metrics.hpp"

namespace attnprof {

// Values of one pass around one launch, or of the passes around successive launches of the same, by
// count_name: bytes, ns, cycles, FLOPs, percent.
using LaunchCounts = std::map<std::string, double, std::less<>>;

// "hbm_read"; of tensor FLOPs "tensor_flops_bf16".
std::string count_name(Quantity quantity, std::optional<Dtype> dtype = std::nullopt);

}  // namespace attnprof
