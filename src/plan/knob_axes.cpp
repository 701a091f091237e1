#include "plan/knob_axes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

// "flash2: stages, warp_rows; naive: none".
std::string knobs_of(std::span<const Variant* const> variants) {
  std::string text;
  for (const Variant* variant : variants) {
    std::string names;
    for (const Knob& knob : variant->knobs) names += (names.empty() ? "" : ", ") + std::string(knob.name);
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", variant->name, names.empty() ? "none" : names);
  }
  return text;
}

void check_values(const KnobAxis& axis, std::span<const Variant* const> variants) {
  for (int64_t value : axis.values) {
    bool taken = false;
    std::string ranges;
    for (const Variant* variant : variants) {
      const Knob* knob = find_knob(*variant, axis.name);
      if (!knob) continue;
      taken |= knob->takes(value);
      ranges += fmt::format("{}{} takes {}", ranges.empty() ? "" : ", ", variant->name, values_text(*knob));
    }
    if (!taken) throw UsageError(fmt::format("--knob {}: {} is out of range; {}", axis.name, value, ranges));
  }
}

}  // namespace

std::vector<KnobAxis> parse_knobs(const std::vector<std::string>& texts) {
  std::vector<KnobAxis> axes;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError(fmt::format("--knob '{}': give a knob and its values, such as stages=1,2", text));
    const std::string name = text.substr(0, equals);
    const std::vector<int64_t> values = parse_axis("--knob " + name, {text.substr(equals + 1)}, 0);
    const auto known = std::ranges::find(axes, name, &KnobAxis::name);
    KnobAxis& axis = known == axes.end() ? axes.emplace_back(KnobAxis{name, {}}) : *known;
    for (int64_t value : values)
      if (std::ranges::find(axis.values, value) == axis.values.end()) axis.values.push_back(value);
  }
  return axes;
}

void check_knobs(std::span<const KnobAxis> axes, std::span<const Variant* const> variants) {
  for (const KnobAxis& axis : axes) {
    const bool known = std::ranges::any_of(
        variants, [&](const Variant* variant) { return find_knob(*variant, axis.name) != nullptr; });
    if (!known)
      throw UsageError(fmt::format("--knob {}: no variant of this plan has it; they have {}", axis.name,
                                   knobs_of(variants)));
    check_values(axis, variants);
  }
}

std::vector<Knobs> knob_requests(std::span<const KnobAxis> axes, const Variant& variant) {
  std::vector<Knobs> all = {{}};
  for (const Knob& knob : variant.knobs) {  // in its order, so that a request is written one way only
    const auto axis = std::ranges::find(axes, knob.name, &KnobAxis::name);
    if (axis == axes.end()) continue;
    std::vector<Knobs> longer;
    for (const Knobs& knobs : all)
      for (int64_t value : axis->values) {
        longer.push_back(knobs);
        longer.back().set(knob.name, static_cast<int>(value));
      }
    all = std::move(longer);
  }
  return all;
}

double knob_combinations(std::span<const KnobAxis> axes, const Variant& variant) {
  double count = 1;
  for (const KnobAxis& axis : axes)
    if (find_knob(variant, axis.name)) count *= static_cast<double>(axis.values.size());
  return count;
}

std::optional<std::string> bad_knob(const Knobs& knobs, const Variant& variant) {
  for (const Knobs::Value& each : knobs)
    if (const Knob* knob = find_knob(variant, each.name); knob && !knob->takes(each.value))
      return fmt::format("{} = {} is out of range: {} takes {}", each.name, each.value, variant.name,
                         values_text(*knob));
  return std::nullopt;
}

}  // namespace attnprof
