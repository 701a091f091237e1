#include "measure/gpu/harness.hpp"

#include <algorithm>
#include <vector>

#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

constexpr int threads = 256;  // of every harness kernel but the bulk copy; reference.cuh relies on it
constexpr int64_t vector_bytes = 16;
using UInt64 = unsigned long long;

}  // namespace

KernelLaunch harness_kernel() {
  KernelLaunch kernel;
  kernel.file = "lib/harness.cu";
  kernel.entry = "fill_random";
  return kernel;
}

Harness::Harness(const std::string& cubin, int sms)
    : module_(cubin),
      sms_(sms),
      fill_random_(module_.function("fill_random")),
      fill_scales_(module_.function("fill_scales")),
      evict_read_(module_.function("evict_read")),
      spin_(module_.function("spin")),
      gather_rows_(module_.function("gather_rows")),
      count_not_finite_(module_.function("count_not_finite")),
      copy_plain_(module_.function("copy_plain")),
      fill_plain_(module_.function("fill_plain")),
      copy_bulk_(module_.function("copy_bulk")),
      sink_(16) {}

// Eight blocks of 256 threads fill an SM.
Dim3 Harness::grid(int64_t blocks_needed) const { return {std::clamp<int64_t>(blocks_needed, 1, 8 * sms_)}; }

void Harness::fill_random(const DeviceBuffer& data, int64_t elements, ElementType type,
                          const InputSource& source, unsigned tensor, const Stream& stream) const {
  launch_with(fill_random_, grid(ceil_div(elements, threads)), threads, stream, data.get(),
              static_cast<UInt64>(elements), static_cast<int>(type), static_cast<UInt64>(source.seed), tensor,
              static_cast<int>(source.kind));
}

namespace {

void upload_pages(const DeviceBuffer& data, const Operand& table, const Stream& stream) {
  const std::vector<int32_t> numbers = page_numbers(table);
  data.upload(numbers.data(), table.bytes(), stream);
}

}  // namespace

void Harness::fill_input(const DeviceBuffer& data, const Operand& operand, const InputSource& source,
                         const Stream& stream) const {
  if (operand.init == Init::pages) return upload_pages(data, operand, stream);
  const auto tensor = static_cast<unsigned>(operand.id);
  if (operand.init != Init::scale)
    return fill_random(data, operand.elements(), operand.dtype, source, tensor, stream);
  launch_with(fill_scales_, grid(ceil_div(operand.slices(), threads)), threads, stream, data.get(),
              static_cast<UInt64>(operand.slices()), static_cast<UInt64>(source.seed), tensor,
              static_cast<int>(source.kind));
}

void Harness::read(const DeviceBuffer& data, int64_t bytes, const Stream& stream) const {
  launch_with(evict_read_, grid(ceil_div(bytes / vector_bytes, threads)), threads, stream, data.get(),
              static_cast<UInt64>(bytes / vector_bytes), sink_.get());
}

void Harness::spin(int64_t nanoseconds, const Stream& stream) const {
  launch_with(spin_, {}, 1, stream, static_cast<UInt64>(nanoseconds));
}

void Harness::run_reference(std::string_view kernel, int64_t items, const ReferenceParams& params,
                            const Stream& stream) const {
  launch_with(module_.function(std::string(kernel)), grid(items), threads, stream, params);
}

void Harness::gather_rows(const DeviceBuffer& data, ElementType type, const DeviceBuffer& rows,
                          int64_t row_count, int64_t columns, const DeviceBuffer& gathered,
                          const Stream& stream) const {
  launch_with(gather_rows_, grid(ceil_div(row_count * columns, threads)), threads, stream, data.get(),
              static_cast<int>(type), rows.get(), static_cast<long long>(row_count),
              static_cast<int>(columns), gathered.get());
}

void Harness::count_not_finite(const DeviceBuffer& data, int64_t elements, ElementType type,
                               const DeviceBuffer& count, const Stream& stream) const {
  launch_with(count_not_finite_, grid(ceil_div(elements, threads)), threads, stream, data.get(),
              static_cast<UInt64>(elements), static_cast<int>(type), count.get());
}

void Harness::copy_plain(const DeviceBuffer& source, const DeviceBuffer& target, int64_t bytes,
                         const Stream& stream) const {
  launch_with(copy_plain_, grid(ceil_div(bytes / vector_bytes, threads)), threads, stream, source.get(),
              target.get(), static_cast<UInt64>(bytes / vector_bytes));
}

void Harness::fill_plain(const DeviceBuffer& target, int64_t bytes, uint32_t value,
                         const Stream& stream) const {
  launch_with(fill_plain_, grid(ceil_div(bytes / vector_bytes, threads)), threads, stream, target.get(),
              static_cast<UInt64>(bytes / vector_bytes), static_cast<unsigned>(value));
}

void Harness::copy_bulk(const DeviceBuffer& source, const DeviceBuffer& target, int64_t bytes,
                        const Stream& stream) const {
  const int64_t chunks = bytes / copy_bulk_chunk_bytes;
  launch_with(copy_bulk_, grid(chunks), 32, stream, source.get(), target.get(), static_cast<UInt64>(chunks));
}

}  // namespace attnprof
