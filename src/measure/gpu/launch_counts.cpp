#include "measure/gpu/launch_counts.hpp"

namespace attnprof {

std::string count_name(Quantity quantity, std::optional<Dtype> dtype) {
  constexpr std::array<std::string_view, quantity_count> names = {
      "hbm_read", "hbm_write", "l2_read",       "l2_write",    "l2_atomic", "l2_reduction",
      "sm_read",  "sm_write",  "local_load",    "local_store", "occupancy", "tensor_pipe",
      "cycles",   "duration",  "active_cycles", "tensor_flops"};
  std::string name(names[static_cast<size_t>(quantity)]);
  return dtype ? name + "_" + std::string(attnprof::to_string(*dtype)) : name;
}

}  // namespace attnprof
