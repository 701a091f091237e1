#include "measure/gpu/count_turns.hpp"

namespace attnprof {

// A set with nothing but tensor FLOPs is of use only until it is known which the kernel executes.
bool CountTurns::wanted(std::span<const CountSet> sets, size_t set) const {
  if (given_up_.contains(set)) return false;
  const auto& [others, tensor, passes] = sets[set];
  if (others || !tensor) return true;
  return !no_tensor_work_ && (!tensor_ || *tensor_ == *tensor);
}

size_t CountTurns::next(std::span<const CountSet> sets, std::optional<size_t> enabled) const {
  std::optional<size_t> least;
  for (size_t set = 0; set < sets.size(); ++set)
    if (wanted(sets, set) && (!least || times(set) < times(*least))) least = set;
  if (!least) return 0;
  const bool stay = enabled && wanted(sets, *enabled) && times(*enabled) <= 2 * times(*least);
  return stay ? *enabled : *least;
}

void CountTurns::give_up(size_t set) { given_up_.insert(set); }

void CountTurns::counted(std::span<const CountSet> sets, size_t set, const LaunchCounts& counts) {
  times_.resize(sets.size());
  ++times_[set];
  const auto value = [&](const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto pipe = value(count_name(Quantity::tensor_pipe))) no_tensor_work_ = *pipe == 0;
  const std::optional<Dtype> dtype = sets[set].tensor;
  if (dtype && value(count_name(Quantity::tensor_flops, dtype)).value_or(0) > 0) tensor_ = dtype;
}

}  // namespace attnprof
