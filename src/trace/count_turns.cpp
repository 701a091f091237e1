#include "trace/count_turns.hpp"

namespace attnprof {

// A set with nothing but tensor FLOPs is of use only until it is known which the kernel executes.
bool CountTurns::wanted(const CountSet& set) const {
  if (set.others || !set.tensor) return true;
  return !no_tensor_work_ && (!tensor_ || *tensor_ == *set.tensor);
}

size_t CountTurns::next(std::span<const CountSet> sets) const {
  for (size_t i = 0; i < sets.size(); ++i) {
    const size_t set = (position_ + i) % sets.size();
    if (wanted(sets[set])) return set;
  }
  return 0;
}

void CountTurns::counted(std::span<const CountSet> sets, size_t set, const LaunchCounts& counts) {
  position_ = set + 1;
  const auto value = [&](const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto pipe = value(count_name(Quantity::tensor_pipe))) no_tensor_work_ = *pipe == 0;
  const std::optional<Dtype> dtype = sets[set].tensor;
  if (dtype && value(count_name(Quantity::tensor_flops, dtype)).value_or(0) > 0) tensor_ = dtype;
}

}  // namespace attnprof
