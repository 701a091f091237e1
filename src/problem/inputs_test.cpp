#include "problem/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lib/random_value.h"
#include "problem/rounding.hpp"

namespace attnprof {
namespace {

constexpr int64_t many = 200'000;

Operand tensor(ElementType type, OperandId id) {
  return {"a tensor", Role::input, Init::random, type, 1, 1, many, 1, 1, id};
}
Operand scales() {
  return {"q_scale", Role::input, Init::scale, ElementType::fp32, 4, 16, 1, 1, 1, operand_q_scale};
}

double deviation(const std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (double value : values) sum += value, squares += value * value;
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / n - sum / n * (sum / n));
}

// Committed results name their inputs by the seed alone.
TEST(Inputs, TheSeedsBitsStayWhatTheyWere) {
  const std::vector<float> first = input_elements(tensor(ElementType::fp32, operand_v), {42}, 0, 3);
  EXPECT_EQ(first, (std::vector<float>{attnprof_random_value(42, 2, 0), attnprof_random_value(42, 2, 1),
                                       attnprof_random_value(42, 2, 2)}));
  EXPECT_EQ(first, (std::vector<float>{-0.176387265f, -0.116366968f, 0.278403282f}));
}

TEST(Inputs, AnyPartCanBeMadeAgain) {
  for (InputKind kind : {InputKind::normal, InputKind::outliers}) {
    const std::vector<float> all = input_elements(tensor(ElementType::bf16, operand_k), {7, kind}, 0, 100);
    EXPECT_EQ(input_elements(tensor(ElementType::bf16, operand_k), {7, kind}, 60, 40),
              std::vector<float>(all.begin() + 60, all.end()));
  }
}

// N(0, 1) + N(0, 100) Bernoulli(0.001).
TEST(Inputs, OutliersAreRareAndTenTimesAsWide) {
  const std::vector<float> normal = input_elements(tensor(ElementType::fp32, operand_q), {3}, 0, many);
  const std::vector<float> with =
      input_elements(tensor(ElementType::fp32, operand_q), {3, InputKind::outliers}, 0, many);
  std::vector<float> added;
  for (size_t i = 0; i < normal.size(); ++i)
    if (with[i] != normal[i]) added.push_back(with[i] - normal[i]);
  EXPECT_NEAR(static_cast<double>(added.size()), 1e-3 * many, 50) << "four standard deviations";
  EXPECT_NEAR(deviation(added), 10, 2);
  EXPECT_NEAR(deviation(normal), 1, 0.01);
}

TEST(Inputs, OutliersDifferByTensor) {
  const auto places = [](OperandId id) {
    const std::vector<float> normal = input_elements(tensor(ElementType::fp32, id), {3}, 0, many);
    const std::vector<float> with =
        input_elements(tensor(ElementType::fp32, id), {3, InputKind::outliers}, 0, many);
    std::set<size_t> all;
    for (size_t i = 0; i < normal.size(); ++i)
      if (with[i] != normal[i]) all.insert(i);
    return all;
  };
  EXPECT_NE(places(operand_q), places(operand_k));
}

// Nothing saturates, and what is stored stands for the input within e4m3's rounding.
TEST(Inputs, Fp8ElementsFillTheRangeAndNoMore) {
  for (InputKind kind : {InputKind::normal, InputKind::outliers}) {
    const float unit = attnprof_fp8_unit(static_cast<int>(kind));
    const std::vector<float> exact = input_elements(tensor(ElementType::fp32, operand_k), {5, kind}, 0, many);
    const std::vector<float> elements =
        input_elements(tensor(ElementType::e4m3, operand_k), {5, kind}, 0, many);
    float largest = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      EXPECT_LE(std::abs(exact[i] / unit), 448);
      ASSERT_NEAR(elements[i] * unit, exact[i], std::max(std::abs(exact[i]) / 16, unit / 1024));
      ASSERT_EQ(elements[i], round_to(ElementType::e4m3, elements[i]));
      largest = std::max(largest, std::abs(elements[i]));
    }
    EXPECT_GT(largest, 128) << "the upper two binades of e4m3 are used";
  }
}

TEST(Inputs, ScalesDifferByHeadWithinAFactorOfFour) {
  for (InputKind kind : {InputKind::normal, InputKind::outliers}) {
    const float unit = attnprof_fp8_unit(static_cast<int>(kind));
    const std::vector<float> all = input_elements(scales(), {9, kind}, 0, 64);
    EXPECT_EQ(std::set<float>(all.begin(), all.end()).size(), all.size());
    for (float scale : all) EXPECT_TRUE(scale >= 0.5f * unit && scale <= 2 * unit) << scale;
    EXPECT_GT(*std::ranges::max_element(all) / *std::ranges::min_element(all), 2.5f);
  }
}

TEST(Inputs, KindsAreWords) {
  EXPECT_NE(to_string(InputKind::normal), to_string(InputKind::outliers));
  EXPECT_NE(describe(InputKind::normal), describe(InputKind::outliers));
}

}  // namespace
}  // namespace attnprof
