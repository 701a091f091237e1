#include "plan/operands.hpp"

namespace attnprof {

std::vector<Operand> operands(const Problem& p) {
  const auto tensor = [&](const char* name, Role role, Init init, int64_t heads, int64_t rows) {
    return Operand{name, role, init, p.dtype, p.batch, heads, rows, p.head_dim, p.head_dim};
  };
  return {tensor("Q", Role::input, Init::random, p.heads, p.q_len),
          tensor("K", Role::input, Init::random, p.kv_heads, p.kv_len),
          tensor("V", Role::input, Init::random, p.kv_heads, p.kv_len),
          tensor("O", Role::output, Init::poison, p.heads, p.q_len)};
}

int64_t io_lower_bound_bytes(const Problem& problem) { return total_bytes(operands(problem)); }

int64_t total_bytes(const std::vector<Operand>& operands) {
  int64_t bytes = 0;
  for (const Operand& operand : operands) bytes += operand.bytes();
  return bytes;
}

}  // namespace attnprof
