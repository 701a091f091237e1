#include "problem/flops.hpp"

#include "base/saturating.hpp"
#include "problem/equal_parts.hpp"
#include "problem/passes.hpp"
#include "problem/visible.hpp"

namespace attnprof {
namespace {

// Of one (query, key) pair: a multiply and an add for each step of each product's inner dimension.
int64_t pair_flops(const Problem& problem) {
  int64_t flops = 0;
  for (const int64_t inner : pass_spec(problem.pass).products(problem)) flops += 2 * inner;
  return flops;
}

template <typename Pairs>
int64_t flops_of(const Problem& problem, Pairs pairs) {
  int64_t flops = 0;
  for (const Problem& part : equal_parts(problem))
    flops =
        saturating_sum(flops, saturating_product({pair_flops(part), pairs(part), part.heads, part.batch}));
  return flops;
}

}  // namespace

int64_t useful_flops(const Problem& problem) { return flops_of(problem, unmasked_pairs); }

int64_t half_square_flops(const Problem& problem) {
  const int64_t square = flops_of(problem, [](const Problem& part) { return part.q_len * part.kv_len; });
  return problem.mask == Mask::causal ? square / 2 : square;
}

}  // namespace attnprof
