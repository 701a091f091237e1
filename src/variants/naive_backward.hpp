// naive's backward pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/variant.hpp"

namespace attnprof {

std::optional<std::string> naive_backward_unsupported(const Problem& problem, const Tile& tile);
TileChoice naive_backward_tile(const Problem& problem, const DeviceProfile& device);

// After S and P, with which the forward pass makes O and LSE: delta [batch, heads, q_len], and dQ's sums
// [batch, heads, q_len, head_dim], both fp32.
std::vector<Operand> naive_backward_workspace(const Problem& problem);

// `forward`: the steps that leave O and S, which LSE is made of; they and that become steps that are not
// timed.
std::vector<Step> naive_backward_steps(const Problem& problem, const Tile& tile, const OperandList& operands,
                                       std::vector<Step> forward);

}  // namespace attnprof
