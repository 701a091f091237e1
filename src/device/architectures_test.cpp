#include "device/architectures.hpp"

#include <gtest/gtest.h>

#include <set>

#include "device/device_profiles.hpp"

namespace attnprof {
namespace {

TEST(Architectures, NamesAreThoseOfNvcc) {
  EXPECT_EQ(architecture_number("sm_86"), 86);
  EXPECT_EQ(architecture_number("sm_90a"), 90);
  EXPECT_EQ(architecture_number("sm_120f"), 120);
  for (const char* wrong : {"", "sm_", "sm_a", "sm_9", "sm_090", "sm_90b", "sm_90aa", "sm_-90", "sm_9 0",
                            "SM_90", "compute_90", "90", "sm_90;rm", "sm_1000"})
    EXPECT_FALSE(architecture_number(wrong)) << wrong;
}

TEST(Architectures, ADeviceThatIsKnownComesFirst) {
  EXPECT_EQ(profile_of_architecture("sm_80")->name, "a100-sxm-80g");
  EXPECT_EQ(profile_of_architecture("sm_86")->name, "sm_86");
  EXPECT_EQ(profile_of_architecture("sm_90")->arch, "sm_90") << "wgmma is of sm_90a alone";
  EXPECT_FALSE(profile_of_architecture("sm_12"));
  EXPECT_FALSE(profile_of_architecture("mine"));
}

TEST(Architectures, EveryNameThatIsListedIsKnown) {
  const std::vector<std::string> names = architecture_names();
  for (const std::string& name : names) EXPECT_TRUE(profile_of_architecture(name)) << name;
  const std::set<std::string> each(names.begin(), names.end());
  EXPECT_EQ(each.size(), names.size());
  for (const DeviceProfile& known : all_profiles()) EXPECT_TRUE(each.contains(known.arch)) << known.arch;
  for (const char* name : {"sm_86", "sm_90", "sm_120"}) EXPECT_TRUE(each.contains(name)) << name;
}

// The table of limits and the profiles are two sources for the same SMs.
TEST(Architectures, LimitsAreThoseOfTheDevicesThatAreKnown) {
  for (const DeviceProfile& known : all_profiles()) {
    const std::string other =
        known.arch.ends_with('a') ? known.arch.substr(0, known.arch.size() - 1) : known.arch + "a";
    const auto limits = profile_of_architecture(other);
    ASSERT_TRUE(limits) << other;
    ASSERT_EQ(limits->name, other);
    EXPECT_EQ(limits->smem_per_sm_bytes, known.smem_per_sm_bytes) << known.name;
    EXPECT_EQ(limits->smem_per_block_bytes, known.smem_per_block_bytes) << known.name;
    EXPECT_EQ(limits->max_threads_per_sm, known.max_threads_per_sm) << known.name;
    EXPECT_EQ(limits->max_ctas_per_sm, known.max_ctas_per_sm) << known.name;
    EXPECT_EQ(limits->registers_per_sm, known.registers_per_sm) << known.name;
  }
}

}  // namespace
}  // namespace attnprof
