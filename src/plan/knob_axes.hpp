// The knobs of a sweep: an axis each, of the variants that have the knob.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/variant.hpp"

namespace attnprof {

struct KnobAxis {
  std::string name;
  std::vector<int64_t> values;
};

// "stages=1,2,3" of every --knob, values of the same name together. Throws UsageError for what is malformed.
std::vector<KnobAxis> parse_knobs(const std::vector<std::string>& texts);

// Throws UsageError for a knob that none of the variants has, and for a value that none of them takes.
void check_knobs(std::span<const KnobAxis> axes, std::span<const Variant* const> variants);

// Every combination of the knobs that `variant` has; a single empty one if it has none of them.
std::vector<Knobs> knob_requests(std::span<const KnobAxis> axes, const Variant& variant);

// Cases that the knobs make of one of the variant's: the size of knob_requests, without building it.
double knob_combinations(std::span<const KnobAxis> axes, const Variant& variant);

// Why the variant does not take one of these values, as a sentence; nothing if it takes all.
std::optional<std::string> bad_knob(const Knobs& knobs, const Variant& variant);

}  // namespace attnprof
