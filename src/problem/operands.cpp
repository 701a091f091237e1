#include "problem/operands.hpp"

#include <utility>

#include "base/saturating.hpp"

namespace attnprof {

std::vector<Operand> operands(const Problem& p) {
  const auto input = [&](const char* name, int64_t heads, int64_t rows) {
    return Operand{name, Role::input, Init::random, p.dtype, p.batch, heads, rows, p.head_dim, p.head_dim};
  };
  const auto scale = [&](const char* name, int64_t heads) {
    return Operand{name, Role::input, Init::scale, Dtype::fp32, p.batch, heads, 1, 1, 1};
  };
  Operand o = input("O", p.heads, p.q_len);
  o.role = Role::output, o.init = Init::poison, o.dtype = output_dtype(p.dtype);
  std::vector<Operand> all = {input("Q", p.heads, p.q_len), input("K", p.kv_heads, p.kv_len),
                              input("V", p.kv_heads, p.kv_len), std::move(o)};
  if (p.dtype == Dtype::fp8)
    all.insert(all.end(),
               {scale("q_scale", p.heads), scale("k_scale", p.kv_heads), scale("v_scale", p.kv_heads)});
  return all;
}

int64_t io_lower_bound_bytes(const Problem& problem) { return total_bytes(operands(problem)); }

int64_t total_bytes(const std::vector<Operand>& operands) {
  int64_t bytes = 0;
  for (const Operand& operand : operands) bytes = saturating_sum(bytes, operand.bytes());
  return bytes;
}

}  // namespace attnprof
