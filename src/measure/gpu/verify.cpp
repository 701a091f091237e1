#include "measure/gpu/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "problem/passes.hpp"
#include "problem/visible.hpp"
#include "verify/sampling.hpp"
#include "verify/verdict.hpp"

namespace attnprof {
namespace {

constexpr double reference_tolerance = 1e-9;  // between two fp64 evaluations of the same row
constexpr size_t rows_at_once = 1 << 16;      // bounds the memory that `full` needs

// Inputs made from the seed as the device made them, a slice at a time.
class RegeneratedInputs : public OperandValues {
 public:
  explicit RegeneratedInputs(const PreparedCase& prepared) : prepared_(prepared) {}

  std::span<const float> rows(OperandId id, int64_t slice, int64_t row, int64_t rows) const override {
    const Operand& operand = prepared_.operands()[id];
    Slice& kept = kept_[id];
    if (kept.number != slice) {
      const int64_t elements = operand.rows * operand.row_pitch;
      kept = {slice, input_elements(operand, prepared_.inputs(), slice * elements, elements)};
    }
    return std::span(kept.values)
        .subspan(static_cast<size_t>(row * operand.row_pitch), static_cast<size_t>(rows * operand.row_pitch));
  }

 private:
  struct Slice {
    int64_t number = -1;
    std::vector<float> values = {};
  };
  const PreparedCase& prepared_;
  mutable std::map<OperandId, Slice> kept_;
};

ReferenceParams reference_params(const PreparedCase& prepared) {
  const Problem& p = prepared.planned().problem;
  ReferenceParams params{};
  for (const Operand& each : prepared.operands()) {
    params.tensors[each.id] = {prepared.buffer(each.id).get(), strides_of(each)};
    params.types[each.id] = static_cast<int>(each.dtype);
  }
  params.batch = static_cast<int>(p.batch);
  params.heads = static_cast<int>(p.heads);
  params.kv_heads = static_cast<int>(p.kv_heads);
  params.q_len = static_cast<int>(p.q_len);
  params.kv_len = static_cast<int>(p.kv_len);
  params.head_dim = static_cast<int>(p.head_dim);
  params.causal = p.mask == Mask::causal;
  return params;
}

// What the rows of all outputs need, made once.
std::optional<DeviceBuffer> prepared_scratch(const PreparedCase& prepared, const GpuDevice& gpu) {
  const Problem& p = prepared.planned().problem;
  const DeviceReference& reference = pass_spec(p.pass).device_reference;
  if (!reference.scratch_values) return std::nullopt;
  DeviceBuffer scratch(reference.scratch_values(p) * 8);
  ReferenceParams params = reference_params(prepared);
  params.scratch = scratch.get<double>();
  gpu.harness().run_reference(reference.prepare, p.batch * p.heads * p.q_len, params, gpu.stream());
  return scratch;
}

// One output of a case, its rows on the device and what they should be. `scratch`: prepared_scratch's, or
// null.
class OutputOnDevice {
 public:
  OutputOnDevice(const PreparedCase& prepared, const GpuDevice& gpu, const PassOutput& output,
                 double* scratch)
      : prepared_(prepared), gpu_(gpu), operand_(prepared.operands()[output.operand]), scratch_(scratch) {}

  // Row-major, rows.size() x cols.
  std::vector<float> actual(std::span<const SampledRow> rows) const {
    const auto count = static_cast<int64_t>(rows.size());
    const DeviceBuffer device_rows = numbers(rows), gathered(count * operand_.cols * 4);
    gpu_.harness().gather_rows(prepared_.buffer(operand_.id), operand_.dtype, device_rows, count,
                               operand_.cols, gathered, gpu_.stream());
    std::vector<float> values(static_cast<size_t>(count * operand_.cols));
    gathered.download(values.data(), count * operand_.cols * 4, gpu_.stream());
    return values;
  }

  std::vector<double> expected(std::span<const SampledRow> rows) const {
    const std::string_view kernel = pass_spec(prepared_.planned().problem.pass).device_reference.rows;
    if (kernel.empty()) return expected_by_host(rows);
    const auto count = static_cast<int64_t>(rows.size());
    const DeviceBuffer device_rows = numbers(rows), expected(count * operand_.cols * 8);
    ReferenceParams params = reference_params(prepared_);
    params.scratch = scratch_, params.output = operand_.id;
    params.rows = device_rows.get<const long long>();
    params.expected = expected.get<double>();
    params.row_count = count;
    gpu_.harness().run_reference(kernel, count, params, gpu_.stream());
    std::vector<double> values(static_cast<size_t>(count * operand_.cols));
    expected.download(values.data(), count * operand_.cols * 8, gpu_.stream());
    return values;
  }

  // Also where no sampled row lies: never written, overflowed, or computed from what is not there.
  bool has_not_finite() const {
    const DeviceBuffer count(8);
    count.fill(0, gpu_.stream());
    gpu_.harness().count_not_finite(prepared_.buffer(operand_.id), operand_.elements(), operand_.dtype, count,
                                    gpu_.stream());
    int64_t found = 0;
    count.download(&found, 8, gpu_.stream());
    return found > 0;
  }

  const Operand& operand() const { return operand_; }

 private:
  DeviceBuffer numbers(std::span<const SampledRow> rows) const {
    std::vector<long long> numbers;
    for (const SampledRow& row : rows) numbers.push_back(row.slice * operand_.rows + row.row);
    const auto bytes = static_cast<int64_t>(numbers.size() * sizeof(long long));
    DeviceBuffer buffer(bytes);
    buffer.upload(numbers.data(), bytes, gpu_.stream());
    return buffer;
  }

  std::vector<double> expected_by_host(std::span<const SampledRow> rows) const {
    const RegeneratedInputs inputs(prepared_);
    const auto reference = make_reference(prepared_.planned().problem, inputs);
    std::vector<double> values;
    for (const SampledRow& at : rows) {
      const std::vector<double> row = reference->row(operand_.id, at.slice, at.row);
      values.insert(values.end(), row.begin(), row.end());
    }
    return values;
  }

  const PreparedCase& prepared_;
  const GpuDevice& gpu_;
  const Operand& operand_;
  double* scratch_;
};

bool all_zero(std::span<const double> row) {
  return std::ranges::all_of(row, [](double value) { return value == 0; });
}

// The two references are held against each other in one row that depends on its inputs.
void compare_with_host(const PreparedCase& prepared, const Operand& output, const SampledRow& at,
                       std::span<const double> device) {
  const RegeneratedInputs inputs(prepared);
  const std::vector<double> host =
      make_reference(prepared.planned().problem, inputs)->row(output.id, at.slice, at.row);
  double difference = 0, norm = 0;
  for (size_t c = 0; c < host.size(); ++c) {
    difference += (device[c] - host[c]) * (device[c] - host[c]);
    norm += host[c] * host[c];
  }
  const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  if (!(error <= reference_tolerance))
    throw CaseFailed(fmt::format(
        "the output cannot be judged: the GPU's fp64 reference of row {} of slice {} of {} differs "
        "from the host's by {:.3g} (at most {:.0e})",
        at.row, at.slice, output.name, error, reference_tolerance));
}

// The host's reference of one row of an output of keys goes over all pairs of a group's heads: seconds, where
// there are many. Rows of queries, which the device makes of the same parts, are compared in every case.
bool host_can_compare(const Problem& p, Axis axis) {
  constexpr double most = 1e9;  // multiply-adds
  return axis == Axis::query || static_cast<double>(p.group()) * static_cast<double>(unmasked_pairs(p)) *
                                        static_cast<double>(p.head_dim) <=
                                    most;
}

CheckedOutput check_output(const PreparedCase& prepared, const GpuDevice& gpu, const PassOutput& output,
                           double* scratch, bool full) {
  const Problem& p = prepared.planned().problem;
  const OutputOnDevice on_device(prepared, gpu, output, scratch);
  const Operand& operand = on_device.operand();
  const std::vector<SampledRow> rows = rows_to_verify(operand, prepared.inputs().seed, full);
  const auto cols = static_cast<size_t>(operand.cols);
  ErrorMeter meter(operand.cols, output.rows_may_vanish);
  bool compared = !host_can_compare(p, output.axis);
  for (size_t first = 0; first < rows.size(); first += rows_at_once) {
    const auto part = std::span(rows).subspan(first, std::min(rows_at_once, rows.size() - first));
    const std::vector<double> expected = on_device.expected(part);
    meter.add(expected, on_device.actual(part));
    for (size_t i = 0; i < part.size() && !compared; ++i) {
      const auto row = std::span(expected).subspan(i * cols, cols);
      if (all_zero(row)) continue;  // no key is seen, or by no query
      compare_with_host(prepared, operand, part[i], row);
      compared = true;
    }
  }
  if (on_device.has_not_finite()) meter.add_not_finite();
  return {operand.name, output.tolerance(p.dtype), meter};
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
  const std::optional<DeviceBuffer> scratch = prepared_scratch(prepared, gpu);
  std::vector<CheckedOutput> outputs;
  for (const PassOutput& output : pass_spec(p.pass).outputs)
    outputs.push_back(check_output(prepared, gpu, output, scratch ? scratch->get<double>() : nullptr,
                                   mode == VerifyMode::full));
  return verdict(p, outputs);
}

}  // namespace attnprof
