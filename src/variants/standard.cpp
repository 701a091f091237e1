// What frameworks' eager attention runs: a library product for S, a fused scale-mask-softmax kernel, a
// library product for O. The query heads that share a kv head are stacked into one product.
#include <fmt/format.h>

#include "schedule/fp8.hpp"
#include "schedule/gemm_schedule.hpp"
#include "schedule/tiling.hpp"
#include "variants/unfused.hpp"

namespace attnprof {

extern const Variant standard_variant;

namespace {

constexpr int64_t most_head_dim = 1024;  // as far as the reference it is verified against goes

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile&) {
  if (tile != Tile{})
    return "standard takes no tile: its matrix products are a library's, which chooses its own";
  if (auto reason = fp8_unsupported("standard", "fp32, fp16 and bf16", p)) return reason;
  if (p.head_dim <= 0 || p.head_dim % 16 != 0 || p.head_dim > most_head_dim)
    return fmt::format("standard takes head_dim in multiples of 16 up to {}, not {}", most_head_dim,
                       p.head_dim);
  return row_too_long("standard", p);
}

TileChoice default_tile(const Problem&, const DeviceProfile&) {
  return {Tile{}, "the library chooses the tiles of its products"};
}

std::vector<Operand> workspace(const Problem& p, const Tile&) { return score_workspace(p); }

// C = A op(B) for every kv head; A and C are the stacked rows of its query heads.
GemmLaunch stacked_product(const Problem& p, OperandId a, OperandId b, OperandId c, int64_t n, int64_t k,
                           bool transpose_b) {
  const int64_t m = p.group() * p.q_len, pitch = round_up(p.kv_len, 16);
  const int64_t lda = a == operand_p ? pitch : p.head_dim;
  const int64_t ldc = c == operand_s ? pitch : p.head_dim;
  return {.m = m,
          .n = n,
          .k = k,
          .count = p.batch * p.kv_heads,
          .transpose_b = transpose_b,
          .a = a,
          .b = b,
          .c = c,
          .lda = lda,
          .ldb = p.head_dim,
          .ldc = ldc,
          .stride_a = m * lda,
          .stride_b = p.kv_len * p.head_dim,
          .stride_c = m * ldc};
}

Step gemm_step(const char* name, const OperandList& ops, const GemmLaunch& gemm) {
  return {.name = name,
          .launch = gemm,
          .schedule = gemm_schedule(gemm, ops),
          .pace = {.unit = ProductUnit::library}};
}

std::vector<Step> steps(const Problem& p, const Tile& tile, const DeviceProfile&) {
  // The kernel depends on neither head_dim nor a tile: it is compiled once for a dtype and mask.
  KernelLaunch softmax;
  softmax.file = "standard.cu";
  softmax.entry = "scale_mask_softmax";
  for (auto& macro : kernel_macros(p, 0, 0))
    if (macro.first == "DTYPE" || macro.first == "CAUSAL") softmax.macros.push_back(std::move(macro));
  const SoftmaxColumns whole_row{round_up(p.kv_len, 16), round_up(p.kv_len, 16)};
  const float scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  const OperandList ops = case_operands(standard_variant, p, tile);
  return {gemm_step("scores", ops,
                    stacked_product(p, operand_q, operand_k, operand_s, p.kv_len, p.head_dim, true)),
          softmax_step(p, std::move(softmax), scale, [whole_row](int64_t) { return whole_row; }),
          gemm_step("output", ops,
                    stacked_product(p, operand_p, operand_v, operand_o, p.head_dim, p.kv_len, false))};
}

}  // namespace

const Variant standard_variant{
    .name = "standard",
    .idea = "two library matrix products around a fused scale-mask-softmax kernel, as frameworks run it",
    .needs = "fp32, fp16, bf16; head_dim multiple of 16 up to 1024; no tile",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
};

}  // namespace attnprof
