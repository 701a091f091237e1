#include "measure/gpu/tensor_map.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"

namespace attnprof {
namespace {

static_assert(sizeof(AttentionTensorMap) == sizeof(CUtensorMap));
static_assert(alignof(AttentionTensorMap) >= 64 && alignof(AttentionParams) >= 64);

constexpr int64_t granule_bytes = 16;
constexpr int64_t largest_box_side = 256;

CUtensorMapDataType type_of(ElementType dtype) {
  switch (dtype) {
    case ElementType::fp32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::fp16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::e4m3:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case ElementType::int32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle swizzle_of(const TensorMap& map) {
  switch (map.swizzle_bytes) {
    case 0:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
  }
  throw CaseFailed(fmt::format("a tensor map swizzles 0, 32, 64 or 128 bytes, not {}", map.swizzle_bytes));
}

[[noreturn]] void refuse(const TensorMap& map, const Operand& operand, const std::string& why) {
  throw CaseFailed(fmt::format("no tensor map of {} in boxes of {} x {} (rows x columns): {}", operand.name,
                               map.box_rows, map.box_cols, why));
}

void check(const TensorMap& map, const Operand& operand) {
  const int64_t element = bytes_per_element(operand.dtype);
  const int64_t pitch = operand.row_pitch * element, box_row = map.box_cols * element;
  if (pitch % granule_bytes != 0)
    refuse(map, operand,
           fmt::format("its rows are {} bytes apart, and must be at a multiple of {}", pitch, granule_bytes));
  if (map.box_rows < 1 || map.box_rows > largest_box_side || map.box_cols < 1 ||
      map.box_cols > largest_box_side)
    refuse(map, operand, fmt::format("each side is 1 to {} elements", largest_box_side));
  if (box_row % granule_bytes != 0)
    refuse(map, operand,
           fmt::format("a box row is {} bytes, and must be a multiple of {}", box_row, granule_bytes));
  if (map.swizzle_bytes > 0 && box_row > map.swizzle_bytes)
    refuse(map, operand,
           fmt::format("a box row is {} bytes, more than the swizzle's {}", box_row, map.swizzle_bytes));
}

}  // namespace

TensorMapLayout tensor_map_layout(const TensorMap& map, const Operand& operand) {
  check(map, operand);
  const auto row_bytes = static_cast<cuuint64_t>(operand.row_pitch * bytes_per_element(operand.dtype));
  return {.type = type_of(operand.dtype),
          .sizes = {static_cast<cuuint64_t>(operand.cols), static_cast<cuuint64_t>(operand.rows),
                    static_cast<cuuint64_t>(operand.slices())},
          .stride_bytes = {row_bytes, row_bytes * static_cast<cuuint64_t>(operand.rows)},
          .box = {static_cast<cuuint32_t>(map.box_cols), static_cast<cuuint32_t>(map.box_rows), 1},
          .swizzle = swizzle_of(map)};
}

AttentionTensorMap encode_tensor_map(const TensorMap& map, const Operand& operand, void* address,
                                     const Driver& driver) {
  if (!driver.cuTensorMapEncodeTiled)
    throw CaseSkipped(
        fmt::format("{} is too old a driver for variants that load by "
                    "TMA: it lacks cuTensorMapEncodeTiled (CUDA 12.0)",
                    driver.path));
  const TensorMapLayout layout = tensor_map_layout(map, operand);
  const std::array<cuuint32_t, 3> element_strides = {1, 1, 1};
  CUtensorMap encoded;
  const CUresult result = driver.cuTensorMapEncodeTiled(
      &encoded, layout.type, 3, address, layout.sizes.data(), layout.stride_bytes.data(), layout.box.data(),
      element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, layout.swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    refuse(map, operand, fmt::format("cuTensorMapEncodeTiled returned {}", static_cast<int>(result)));
  AttentionTensorMap opaque;
  std::memcpy(&opaque, &encoded, sizeof opaque);
  return opaque;
}

}  // namespace attnprof
