#include "schedule/compiled_part.hpp"

#include "base/overloaded.hpp"

namespace attnprof {

const KernelLaunch* compiled_part(const Step& step) {
  using Kernel = const KernelLaunch*;
  return std::visit(overloaded{[](const KernelLaunch& kernel) -> Kernel { return &kernel; },
                               [](const GemmLaunch&) -> Kernel { return nullptr; },
                               [](const MemsetLaunch&) -> Kernel { return nullptr; },
                               [](const PluginLaunch&) -> Kernel { return nullptr; }},
                    step.launch);
}

}  // namespace attnprof
