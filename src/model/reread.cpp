#include "model/reread.hpp"

#include <string_view>

namespace attnprof {

Count reread_bytes(const Case& c) {
  const Problem& p = c.problem;
  if (p.pass != Pass::forward) return std::nullopt;
  const std::string_view name = c.variant->name;
  const int64_t heads = p.batch * p.heads, element = bytes_per_element(p.dtype);
  if (name == "naive" || name == "standard") return heads * p.q_len * p.kv_len * element;
  if (name == "flash1") return heads * p.q_len * (p.head_dim * (element + 4) + 8);
  if (name == "flash2" || name == "flash3") return heads * 2 * p.kv_len * p.head_dim * element;
  return std::nullopt;
}

}  // namespace attnprof
