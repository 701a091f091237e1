#include "measure/gpu/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/gpu/cupti_fixture.hpp"
#include "measure/gpu/metric_plan.hpp"

namespace attnprof {
namespace {

struct Expected {
  const char* chip;
  size_t passes;
};
void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.chip; }

// A listed metric that a chip cannot schedule must show here, not on the user's GPU.
class MetricsOnChip : public CuptiTest<Expected> {};

TEST_P(MetricsOnChip, EveryMetricOfEveryDtypeIsKnownAndPlans) {
  for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    const MetricPlan plan(GetParam().chip, case_metrics(dtype));
    EXPECT_THAT(plan.missing(), testing::IsEmpty()) << to_string(dtype);
    EXPECT_EQ(plan.passes(), GetParam().passes) << to_string(dtype);
  }
}

TEST_P(MetricsOnChip, HbmAloneIsOnePass) {
  const MetricPlan plan(GetParam().chip, hbm_metrics());
  EXPECT_EQ(plan.size(), 2u);
  EXPECT_THAT(plan.missing(), testing::IsEmpty());
  EXPECT_EQ(plan.passes(), 1u);
}

// fp8 products exist from Ada on, and this counter of them on these.
TEST_P(MetricsOnChip, Fp8IsKnownWhereTensorCoresHaveIt) {
  const MetricPlan plan(GetParam().chip, case_metrics(Dtype::fp8));
  const bool has_fp8 = std::string_view(GetParam().chip) != "GA100";
  EXPECT_EQ(plan.missing().empty(), has_fp8);
  EXPECT_LE(plan.passes(), GetParam().passes);
}

INSTANTIATE_TEST_SUITE_P(Chips, MetricsOnChip,
                         testing::Values(Expected{"GA100", 6}, Expected{"AD102", 6}, Expected{"GH100", 4},
                                         Expected{"GB100", 5}, Expected{"GB202", 4}),
                         [](const auto& test) { return test.param.chip; });

class Planning : public MetricsOnChip {};

TEST_P(Planning, AMetricNoChipKnowsIsReportedMissing) {
  const CounterMetric known = case_metrics(Dtype::fp16).front();
  const CounterMetric unknown{Quantity::cycles, {"sm__no_such_counter.sum"}, 1, ""};
  const MetricPlan plan(GetParam().chip, std::vector{known, unknown});
  EXPECT_THAT(plan.missing(), testing::ElementsAre("sm__no_such_counter.sum"));
  EXPECT_EQ(plan.size(), 1u);
}

TEST_P(Planning, AChipCuptiDoesNotKnowIsASentence) {
  EXPECT_THROW(MetricPlan("XX999", case_metrics(Dtype::fp16)), EnvironmentError);
}

INSTANTIATE_TEST_SUITE_P(Chips, Planning, testing::Values(Expected{"GH100", 4}),
                         [](const auto& test) { return test.param.chip; });

}  // namespace
}  // namespace attnprof
