// The facts of an environment that must agree for two rows to be comparable, by where the rows come from:
// what a backend names in BackendInfo::comparable, a BuildRun of kernels likewise, and what the gate's
// --allow-different takes.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

inline constexpr std::array<std::string_view, 8> measured_facts = {"gpu", "driver", "cuda_driver",   "nvcc",
                                                                   "ecc", "mig",    "power_limit_w", "input"};
inline constexpr std::array<std::string_view, 6> traced_facts = {"gpu", "driver", "cuda_driver",
                                                                 "ecc", "mig",    "power_limit_w"};
inline constexpr std::array<std::string_view, 4> simulated_facts = {"target", "model_version", "l2_model",
                                                                    "target_figures"};
inline constexpr std::array<std::string_view, 2> compiled_facts = {"nvcc", "nvcc_flags"};
// Not whether they were disassembled: local loads and stores are compared where both sides know them.
inline constexpr std::array<std::string_view, 3> resources_facts = {"compiler", "block", "dynamic_smem"};

template <class Facts>
std::vector<std::string> names_of(const Facts& facts) {
  return {facts.begin(), facts.end()};
}

// Each once.
inline std::vector<std::string> all_comparable_facts() {
  std::vector<std::string> all = names_of(measured_facts);
  const auto add = [&](const auto& facts) {
    for (const std::string_view fact : facts)
      if (std::ranges::find(all, fact) == all.end()) all.emplace_back(fact);
  };
  add(traced_facts);
  add(simulated_facts);
  add(compiled_facts);
  add(resources_facts);
  return all;
}

}  // namespace attnprof
