#include "schedule/knobs.hpp"

#include <fmt/format.h>

namespace attnprof {

std::string values_text(const Knob& knob) {
  const int others = (knob.highest - knob.lowest) / knob.step;
  if (others == 0) return fmt::format("{}", knob.lowest);
  if (others == 1) return fmt::format("{} or {}", knob.lowest, knob.highest);
  return fmt::format("{} to {}", knob.lowest, knob.highest) +
         (knob.step == 1 ? "" : fmt::format(" in steps of {}", knob.step));
}

std::string to_string(const Knobs& knobs) {
  std::string text;
  for (const Knobs::Value& each : knobs)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", each.name, each.value);
  return text.empty() ? "-" : text;
}

}  // namespace attnprof
