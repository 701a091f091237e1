#include "measure/gpu/launch_sets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "measure/gpu/cupti_fixture.hpp"

namespace attnprof {
namespace {

class LaunchSetsOnChip : public CuptiTest<const char*> {};

// Of every set one launch: all of its metrics in one pass, unless one alone takes more.
TEST_P(LaunchSetsOnChip, HoldEveryCounterInSetsOfOnePass) {
  const LaunchSets planned = plan_launch_sets(GetParam());
  std::set<std::string> names;
  size_t alone = 0;
  for (size_t i = 0; i < planned.sets.size(); ++i) {
    EXPECT_EQ(planned.sets[i].passes, planned.plans[i]->passes());
    EXPECT_THAT(planned.plans[i]->missing(), testing::IsEmpty());
    if (planned.sets[i].passes > 1) {
      ++alone;
      EXPECT_EQ(planned.plans[i]->size(), launch_metrics().size() + 1) << "a counter of its own";
    }
    for (size_t metric = 0; metric < planned.plans[i]->size(); ++metric)
      names.insert(planned.plans[i]->names()[metric]);
  }
  const std::string chip = GetParam();
  EXPECT_EQ(planned.sets.front().passes, 1u);
  EXPECT_EQ(planned.sets.front().tensor, Dtype::bf16);
  EXPECT_LE(planned.sets.size(), 7u);
  EXPECT_LE(alone, chip == "GH100" ? 1u : 3u) << "on GH100 fp16 FLOPs";
  const size_t fp8 = chip == "GA100" ? 0 : 1;
  EXPECT_EQ(names.size(), launch_metrics().size() + further_launch_metrics().size() + 3 + fp8);
}

INSTANTIATE_TEST_SUITE_P(Chips, LaunchSetsOnChip,
                         testing::Values("GA100", "AD102", "GH100", "GB100", "GB202"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace attnprof
