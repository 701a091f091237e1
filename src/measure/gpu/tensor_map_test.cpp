#include "measure/gpu/tensor_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace attnprof {
namespace {
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// [2, 3, 100, 64], rows 72 elements apart.
Operand keys(ElementType type = ElementType::bf16) {
  return {"K", Role::input, Init::random, type, 2, 3, 100, 64, 72, operand_k};
}

template <class Thrown>
std::string refusal(const TensorMap& map, const Operand& operand, const Driver& driver = {}) {
  try {
    driver.cuTensorMapEncodeTiled ? static_cast<void>(encode_tensor_map(map, operand, nullptr, driver))
                                  : static_cast<void>(tensor_map_layout(map, operand));
  } catch (const Thrown& thrown) {
    return thrown.what();
  }
  return "nothing thrown";
}

TEST(TensorMap, IsThreeDimensionalSoThatABoxEndsWithItsSlice) {
  const TensorMapLayout layout = tensor_map_layout({operand_k, 80, 64, 128}, keys());
  EXPECT_THAT(layout.sizes, ElementsAre(64u, 100u, 6u));
  EXPECT_THAT(layout.stride_bytes, ElementsAre(144u, 14400u));
  EXPECT_THAT(layout.box, ElementsAre(64u, 80u, 1u));
  EXPECT_EQ(layout.type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(layout.swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
}

TEST(TensorMap, TypesAreTheOperands) {
  EXPECT_EQ(tensor_map_layout({operand_k, 8, 32, 64}, keys(ElementType::fp16)).type,
            CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_EQ(tensor_map_layout({operand_k, 8, 8, 32}, keys(ElementType::fp32)).type,
            CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  Operand bytes = keys(ElementType::e4m3);
  bytes.row_pitch = 80;
  EXPECT_EQ(tensor_map_layout({operand_k, 8, 64, 64}, bytes).type, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_THAT(tensor_map_layout({operand_k, 8, 64, 64}, bytes).stride_bytes, ElementsAre(80u, 8000u));
  EXPECT_EQ(tensor_map_layout({operand_k, 8, 16, 0}, keys(ElementType::fp32)).swizzle,
            CU_TENSOR_MAP_SWIZZLE_NONE);
}

TEST(TensorMap, WhatTheEngineCannotDoIsASentence) {
  Operand odd = keys();
  odd.row_pitch = 65;
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 64, 64, 128}, odd),
              AllOf(HasSubstr("tensor map of K in boxes of 64 x 64"), HasSubstr("rows are 130 bytes apart"),
                    HasSubstr("multiple of 16")));
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 257, 64, 128}, keys()), HasSubstr("1 to 256 elements"));
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 64, 0, 128}, keys()), HasSubstr("1 to 256 elements"));
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 64, 20, 0}, keys()), HasSubstr("a box row is 40 bytes"));
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 64, 64, 64}, keys()), HasSubstr("more than the swizzle's 64"));
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 64, 16, 48}, keys()),
              HasSubstr("0, 32, 64 or 128 bytes, not 48"));
}

TEST(TensorMap, ADriverWithoutThemSkipsTheCase) {
  Driver old;
  old.path = "/usr/lib/libcuda.so.1";
  try {
    encode_tensor_map({operand_k, 64, 64, 128}, keys(), nullptr, old);
    FAIL() << "encoded";
  } catch (const CaseSkipped& skipped) {
    EXPECT_THAT(skipped.what(),
                AllOf(HasSubstr("/usr/lib/libcuda.so.1"), HasSubstr("cuTensorMapEncodeTiled")));
  }
}

// What a driver was asked for, written into the map it returns.
CUresult recording_driver(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                          const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                          const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                          CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  const cuuint64_t seen[16] = {static_cast<cuuint64_t>(type),
                               rank,
                               reinterpret_cast<cuuint64_t>(address),
                               sizes[2],
                               strides[1],
                               box[1],
                               element_strides[2],
                               static_cast<cuuint64_t>(interleave),
                               static_cast<cuuint64_t>(swizzle),
                               static_cast<cuuint64_t>(fill)};
  std::copy(std::begin(seen), std::end(seen), map->opaque);
  return CUDA_SUCCESS;
}

TEST(TensorMap, TheDriverIsAskedForWhatTheLayoutSays) {
  Driver driver;
  driver.cuTensorMapEncodeTiled = recording_driver;
  const AttentionTensorMap map =
      encode_tensor_map({operand_k, 80, 64, 128}, keys(), reinterpret_cast<void*>(0x7000), driver);
  EXPECT_THAT(
      std::vector(map.opaque, map.opaque + 10),
      ElementsAre(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, 0x7000, 6, 14400, 80, 1, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

TEST(TensorMap, ARefusalOfTheDriverIsThisCasesFailure) {
  Driver driver;
  driver.cuTensorMapEncodeTiled = [](auto...) { return CUDA_ERROR_INVALID_VALUE; };
  EXPECT_THAT(refusal<CaseFailed>({operand_k, 64, 64, 128}, keys(), driver),
              AllOf(HasSubstr("tensor map of K"), HasSubstr("returned 1")));
}

}  // namespace
}  // namespace attnprof
