#include "measure/gpu/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.hpp"
#include "schedule/tiling.hpp"
#include "verify/reference.hpp"

namespace attnprof {
namespace {

constexpr double reference_tolerance = 1e-9;  // between two fp64 evaluations of the same row
constexpr size_t rows_at_once = 1 << 16;      // bounds the memory that `full` needs

// Expected and actual output rows, row-major count x head_dim.
struct RowValues {
  std::vector<double> expected;
  std::vector<float> actual;
};

ReferenceParams reference_params(const PreparedCase& prepared, const DeviceBuffer& rows,
                                 const DeviceBuffer& expected, size_t count) {
  const Problem& p = prepared.planned().problem;
  const auto scales = [&](int operand) {
    return p.dtype == Dtype::fp8 ? prepared.buffer(operand).get<const float>() : nullptr;
  };
  return {.q = prepared.buffer(operand_q).get(),
          .k = prepared.buffer(operand_k).get(),
          .v = prepared.buffer(operand_v).get(),
          .q_scale = scales(operand_q_scale),
          .k_scale = scales(operand_k_scale),
          .v_scale = scales(operand_v_scale),
          .rows = rows.get<const long long>(),
          .expected = expected.get<double>(),
          .row_count = static_cast<long long>(count),
          .dtype = static_cast<int>(p.dtype),
          .heads = static_cast<int>(p.heads),
          .kv_heads = static_cast<int>(p.kv_heads),
          .q_len = static_cast<int>(p.q_len),
          .kv_len = static_cast<int>(p.kv_len),
          .head_dim = static_cast<int>(p.head_dim),
          .causal = p.mask == Mask::causal};
}

RowValues fetch_rows(const PreparedCase& prepared, const GpuDevice& gpu, std::span<const SampledRow> rows) {
  const Problem& p = prepared.planned().problem;
  std::vector<long long> numbers;
  for (const SampledRow& row : rows) numbers.push_back(row.slice * p.q_len + row.row);
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t values = count * p.head_dim;
  const DeviceBuffer device_rows(count * 8), expected(values * 8), actual(values * 4);
  device_rows.upload(numbers.data(), count * 8, gpu.stream());
  gpu.harness().reference_rows(reference_params(prepared, device_rows, expected, rows.size()), gpu.stream());
  gpu.harness().gather_rows(prepared.buffer(operand_o), output_dtype(p.dtype), device_rows, count, p.head_dim,
                            actual, gpu.stream());
  RowValues result{std::vector<double>(static_cast<size_t>(values)),
                   std::vector<float>(static_cast<size_t>(values))};
  expected.download(result.expected.data(), values * 8, gpu.stream());
  actual.download(result.actual.data(), values * 4, gpu.stream());
  return result;
}

int64_t not_finite(const PreparedCase& prepared, const GpuDevice& gpu) {
  const DeviceBuffer count(8);
  count.fill(0, gpu.stream());
  const Operand& o = prepared.operands()[operand_o];
  gpu.harness().count_not_finite(prepared.buffer(operand_o), o.elements(), o.dtype, count, gpu.stream());
  int64_t found = 0;
  count.download(&found, 8, gpu.stream());
  return found;
}

// Rows [first, first + rows) of an input, made from the seed as the device made them.
std::vector<float> regenerate(const PreparedCase& prepared, int operand, int64_t first, int64_t rows) {
  const Operand& o = prepared.operands()[static_cast<size_t>(operand)];
  return input_elements(o, operand, prepared.inputs(), first * o.row_pitch, rows * o.row_pitch);
}

HeadScales regenerate_scales(const PreparedCase& prepared, int64_t slice, int64_t kv) {
  if (prepared.planned().problem.dtype != Dtype::fp8) return {};
  return {regenerate(prepared, operand_q_scale, slice, 1)[0], regenerate(prepared, operand_k_scale, kv, 1)[0],
          regenerate(prepared, operand_v_scale, kv, 1)[0]};
}

void compare_with_host(const PreparedCase& prepared, const SampledRow& row, std::span<const double> device) {
  const Problem& p = prepared.planned().problem;
  const int64_t kv = kv_slice(p, row.slice);
  const std::vector<double> host = reference_row(
      p, row.row, regenerate(prepared, operand_q, row.slice * p.q_len + row.row, 1),
      regenerate(prepared, operand_k, kv * p.kv_len, p.kv_len),
      regenerate(prepared, operand_v, kv * p.kv_len, p.kv_len), regenerate_scales(prepared, row.slice, kv));
  double difference = 0, norm = 0;
  for (size_t c = 0; c < host.size(); ++c) {
    difference += (device[c] - host[c]) * (device[c] - host[c]);
    norm += host[c] * host[c];
  }
  const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  if (!(error <= reference_tolerance))
    throw CaseFailed(
        fmt::format("the output cannot be judged: the GPU's fp64 reference of row {} of slice {} differs "
                    "from the host's by {:.3g} (at most {:.0e})",
                    row.row, row.slice, error, reference_tolerance));
}

}  // namespace

Verification verify_output(const PreparedCase& prepared, const GpuDevice& gpu, VerifyMode mode) {
  const Problem& p = prepared.planned().problem;
  prepared.reset();
  prepared.run();
  gpu.stream().synchronise();
  prepared.check_guards();
  Verification unchecked;
  unchecked.verified = "unchecked";
  if (mode == VerifyMode::off) return unchecked;

  const std::vector<SampledRow> rows = rows_to_verify(p, prepared.inputs().seed, mode == VerifyMode::full);
  const auto d = static_cast<size_t>(p.head_dim);
  ErrorMeter meter(p.head_dim);
  bool host_compared = false;
  for (size_t first = 0; first < rows.size(); first += rows_at_once) {
    const auto part = std::span(rows).subspan(first, std::min(rows_at_once, rows.size() - first));
    const RowValues values = fetch_rows(prepared, gpu, part);
    meter.add(values.expected, values.actual);
    const auto seen =
        std::ranges::find_if(part, [&](const SampledRow& r) { return visible_keys(p, r.row) > 0; });
    if (host_compared || seen == part.end()) continue;
    const auto at = static_cast<size_t>(seen - part.begin());
    compare_with_host(prepared, *seen, std::span(values.expected).subspan(at * d, d));
    host_compared = true;
  }
  // Also where no sampled row lies: never written, overflowed, or computed from what is not there.
  if (not_finite(prepared, gpu) > 0) meter.add_not_finite();
  return meter.verdict(p.dtype);
}

}  // namespace attnprof
