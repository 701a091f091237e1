// What the harness's own kernels do, bit for bit.
#include "lib/flash3_layout.h"
#include "measure/gpu/gpu_device.hpp"
#include "measure/gpu/gpu_fixture.hpp"
#include "measure/gpu/prepare.hpp"
#include "problem/rounding.hpp"
#include "variants/flash3_prepare.hpp"

namespace attnprof {
namespace {

TEST_F(GpuTest, InputsOnTheDeviceAreTheHostsBits) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  constexpr int64_t count = 100'000;
  std::vector<Operand> inputs = {
      {"scale", Role::input, Init::scale, ElementType::fp32, 25, 40, 1, 1, 1, operand_v_scale}};
  using enum ElementType;
  for (const ElementType type : {fp32, fp16, bf16, e4m3, int32})
    inputs.push_back({"V", Role::input, Init::random, type, 1, 1, count, 1, 1, operand_v});
  for (const InputKind kind : {InputKind::normal, InputKind::outliers})
    for (const Operand& operand : inputs) {
      const DeviceBuffer buffer(operand.bytes());
      gpu.harness().fill_input(buffer, operand, {42, kind}, gpu.stream());
      std::vector<char> device(static_cast<size_t>(operand.bytes())), host(device);
      buffer.download(device.data(), operand.bytes(), gpu.stream());
      const std::vector<float> elements = input_elements(operand, {42, kind}, 0, operand.elements());
      for (size_t i = 0; i < elements.size(); ++i)
        store_element(operand.dtype, host.data(), static_cast<int64_t>(i), elements[i]);
      EXPECT_EQ(device, host) << to_string(operand.dtype) << " " << to_string(kind);
    }
}

TEST_F(GpuTest, VIsTransposedByteForByte) {
  use_broken_kernels();
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  Variant transposes = broken_variant("untouched");
  transposes.workspace = [](const Problem& p, const Tile&) { return std::vector{transposed_v(p)}; };
  transposes.steps = [](const Problem& p, const Tile& t, const DeviceProfile&) {
    std::vector<Step> steps = broken_steps(p, t, "untouched");
    steps.push_back(transpose_v_step(p, operand_workspace, false));
    return steps;
  };
  for (const int64_t head_dim : {64, 96, 128, 192, 256})
    for (const int64_t kv_len : {1, 31, 128, 333}) {
      Problem p = problem_of(kv_len, Mask::full, Dtype::fp8);
      p.batch = 2, p.head_dim = head_dim;
      const PreparedCase prepared(case_of(transposes, p, gpu.profile()), {7}, gpu, compiler);
      prepared.reset();
      const Operand v = operands(p)[operand_v], vt = transposed_v(p);
      std::vector<uint8_t> from(static_cast<size_t>(v.bytes())), to(static_cast<size_t>(vt.bytes())),
          expected(to.size(), 0);
      prepared.buffer(operand_v).download(from.data(), v.bytes(), gpu.stream());
      prepared.buffer(operand_workspace).download(to.data(), vt.bytes(), gpu.stream());
      for (int64_t slice = 0; slice < v.slices(); ++slice)
        for (int64_t key = 0; key < kv_len; ++key)
          for (int64_t c = 0; c < head_dim; ++c)
            expected[static_cast<size_t>((slice * head_dim + c) * vt.row_pitch +
                                         v_column(static_cast<int>(key)))] =
                from[static_cast<size_t>((slice * kv_len + key) * head_dim + c)];
      EXPECT_EQ(to, expected) << head_dim << " " << kv_len;
    }
}

TEST_F(GpuTest, CopiesAndFillsDoWhatTheySay) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  constexpr int64_t bytes = 3 * 1024 * copy_bulk_chunk_bytes;
  const DeviceBuffer source(bytes), target(bytes);
  gpu.harness().fill_random(source, bytes / 4, ElementType::fp32, {}, 0, gpu.stream());
  std::vector<uint32_t> from(bytes / 4), to(bytes / 4);
  source.download(from.data(), bytes, gpu.stream());
  const auto fetch = [&] { target.download(to.data(), bytes, gpu.stream()); };
  gpu.harness().fill_plain(target, bytes, 0xABCDEF01u, gpu.stream());
  fetch();
  EXPECT_THAT(to, testing::Each(0xABCDEF01u));
  gpu.harness().copy_plain(source, target, bytes, gpu.stream());
  fetch();
  EXPECT_EQ(to, from);
  if (!gpu.has_bulk_copy()) return;
  target.fill(0, gpu.stream());
  gpu.harness().copy_bulk(source, target, bytes, gpu.stream());
  fetch();
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace attnprof
