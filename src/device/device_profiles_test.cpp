#include "device/device_profiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(DeviceProfiles, AllHaveEveryFigure) {
  std::set<std::string> names;
  for (const DeviceProfile& d : all_profiles()) {
    EXPECT_TRUE(names.insert(d.name).second) << d.name;
    EXPECT_EQ(find_profile(d.name), &d);
    EXPECT_FALSE(d.title.empty() || d.arch.empty()) << d.name;
    for (double figure : {double(d.sms), double(d.smem_per_sm_bytes), d.sm_clock_mhz, double(d.hbm_bytes),
                          double(d.l2_bytes), double(d.l2_dirty_bytes), d.hbm_gbps, d.l2_gbps, d.smem_gbps,
                          d.tensor_16bit_tflops, d.fp32_tflops, d.exp_gops, d.launch_us})
      EXPECT_GT(figure, 0) << d.name;
    EXPECT_LT(d.smem_per_block_bytes, d.smem_per_sm_bytes) << d.name;
    EXPECT_LT(d.hbm_gbps, d.l2_gbps) << d.name;
    EXPECT_LT(d.l2_gbps, d.smem_gbps) << d.name;
  }
  for (const char* name : {"a100-sxm-80g", "a100-pcie-40g", "h100-sxm", "h200", "b200", "l40s", "rtx4090"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(find_profile("h300"), nullptr);
}

// What an SM does a clock fixes both rates, so the two data sheet figures must agree with SMs and clock.
TEST(DeviceProfiles, Fp32PeakIsSmsTimesClock) {
  for (const DeviceProfile& d : all_profiles()) {
    const int lanes = d.arch == "sm_80" ? 64 : 128;
    EXPECT_NEAR(d.fp32_tflops, d.sms * lanes * 2 * d.sm_clock_mhz / 1e6, 0.01 * d.fp32_tflops) << d.name;
  }
}

TEST(DeviceProfiles, A100HasTheLiteraturesMemoryHierarchy) {
  const DeviceProfile& d = *find_profile("a100-sxm-80g");
  EXPECT_NEAR(d.hbm_gbps, 2000, 50);
  EXPECT_EQ(d.hbm_bytes, 80'000'000'000);
  EXPECT_NEAR(d.l2_gbps, 5000, 100);
  EXPECT_EQ(d.l2_bytes, 40 * 1024 * 1024);
  EXPECT_NEAR(d.smem_gbps, 19000, 1000);
}

TEST(DeviceProfiles, TheH200IsCalibratedAndOthersAreNot) {
  for (const DeviceProfile& d : all_profiles()) EXPECT_EQ(d.l2_curve.empty(), d.name != "h200") << d.name;
  EXPECT_EQ(find_profile("h200")->l2_dirty_bytes, 29'500'000);
}

// Twice the 16-bit rate wherever there is one.
TEST(DeviceProfiles, Fp8IsTwiceAsFastFromAdaOn) {
  for (const DeviceProfile& d : all_profiles()) {
    if (d.arch == "sm_80")
      EXPECT_EQ(d.tensor_fp8_tflops, 0) << d.name;
    else
      EXPECT_NEAR(d.tensor_fp8_tflops, 2 * d.tensor_16bit_tflops, 0.02 * d.tensor_fp8_tflops) << d.name;
    EXPECT_EQ(tensor_tflops(d, Dtype::fp8), d.tensor_fp8_tflops);
    EXPECT_EQ(tensor_tflops(d, Dtype::bf16), d.tensor_16bit_tflops);
  }
}

TEST(DeviceProfiles, ADriversNameFindsTheCalibration) {
  const auto h200 = find_profile_for_gpu("NVIDIA H200");
  ASSERT_TRUE(h200);
  EXPECT_EQ(h200->name, "NVIDIA H200");
  EXPECT_EQ(h200->l2_curve.size(), find_profile("h200")->l2_curve.size());
  EXPECT_EQ(h200->hbm_gbps, 4800);
  EXPECT_FALSE(find_profile_for_gpu("NVIDIA H200 NVL"));
  EXPECT_FALSE(find_profile_for_gpu(""));
}

nlohmann::json a_profile() {
  return {{"name", "mine"},
          {"title", "A GPU of mine"},
          {"arch", "sm_90a"},
          {"sms", 100},
          {"smem_per_sm_bytes", 200'000},
          {"smem_per_block_bytes", 100'000},
          {"registers_per_sm", 65536},
          {"max_threads_per_sm", 2048},
          {"max_ctas_per_sm", 32},
          {"sm_clock_mhz", 1500.5},
          {"hbm_bytes", 64e9},
          {"l2_bytes", 50'000'000},
          {"l2_curve", {{20, 0}, {40, 0.5}, {50, 1}}},
          {"l2_dirty_bytes", 20'000'000},
          {"l2_shared_room", 1.25},
          {"hbm_gbps", 3000},
          {"l2_gbps", 6000},
          {"smem_gbps", 20000},
          {"tensor_16bit_tflops", 800},
          {"tensor_fp8_tflops", 1500},
          {"tensor_clock_mhz", 1400},
          {"fp32_tflops", 50},
          {"exp_gops", 3000},
          {"launch_us", 2}};
}

class ProfileFile : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "profile.json";

  std::string write(const std::string& text) {
    write_text(path_, text);
    return path_;
  }
  // The sentence load_profile refuses `text` with.
  std::string refusal(const std::string& text) {
    try {
      load_profile(write(text));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(ProfileFile, IsReadInFull) {
  const DeviceProfile d = load_profile(write(a_profile().dump()));
  EXPECT_EQ(d.name, "mine");
  EXPECT_EQ(d.sms, 100);
  EXPECT_EQ(d.hbm_bytes, 64'000'000'000);
  EXPECT_EQ(d.sm_clock_mhz, 1500.5);
  ASSERT_EQ(d.l2_curve.size(), 3u);
  EXPECT_EQ(d.l2_curve[1].miss_share, 0.5);
  EXPECT_EQ(d.l2_dirty_bytes, 20'000'000);
  EXPECT_EQ(d.l2_shared_room, 1.25);
  EXPECT_EQ(d.tensor_fp8_tflops, 1500);
  EXPECT_EQ(d.tensor_clock_mhz, 1400);
}

TEST_F(ProfileFile, CalibrationAndTensorDetailsMayBeLeftOut) {
  auto json = a_profile();
  json.erase("l2_curve");
  json.erase("l2_dirty_bytes");
  json.erase("l2_shared_room");
  json.erase("tensor_fp8_tflops");
  json.erase("tensor_clock_mhz");
  const DeviceProfile d = load_profile(write(json.dump()));
  EXPECT_TRUE(d.l2_curve.empty());
  EXPECT_EQ(d.l2_dirty_bytes, 23'500'000);
  EXPECT_EQ(d.l2_shared_room, 1);
  EXPECT_EQ(d.tensor_fp8_tflops, 0);
  EXPECT_EQ(d.tensor_clock_mhz, 0);
}

TEST_F(ProfileFile, EveryMissingKeyIsNamedWithTheFile) {
  const nlohmann::json whole = a_profile();
  for (const auto& [key, value] : whole.items()) {
    if (key == "l2_curve" || key == "l2_dirty_bytes" || key == "l2_shared_room" ||
        key.starts_with("tensor_fp8") || key == "tensor_clock_mhz")
      continue;
    auto json = whole;
    json.erase(key);
    EXPECT_THAT(refusal(json.dump()), AllOf(HasSubstr(path_), HasSubstr("'" + key + "' is missing")));
  }
}

TEST_F(ProfileFile, AbsurdValuesAreNamedWithTheFile) {
  const std::pair<const char*, nlohmann::json> absurd[] = {{"sms", 0},
                                                           {"sms", -1},
                                                           {"sms", 1.5},
                                                           {"sms", "many"},
                                                           {"hbm_gbps", 1e30},
                                                           {"l2_bytes", -5},
                                                           {"sm_clock_mhz", nullptr},
                                                           {"name", ""},
                                                           {"arch", "sm_90b"},
                                                           {"arch", "hopper"},
                                                           {"launch_us", -1},
                                                           {"title", 7},
                                                           {"smem_per_block_bytes", 300'000},
                                                           {"l2_dirty_bytes", 60'000'000},
                                                           {"l2_shared_room", 0.5}};
  for (const auto& [key, value] : absurd) {
    auto json = a_profile();
    json[key] = value;
    EXPECT_THAT(refusal(json.dump()), AllOf(HasSubstr(path_), HasSubstr(std::string("'") + key + "'")))
        << value;
  }
}

TEST_F(ProfileFile, ACurveMustAscend) {
  for (const char* curve : {"[[40, 0.5], [20, 0]]", "[[20, 0.5], [40, 0.2]]", "[[20, 1.5]]", "[20, 30]", "3",
                            "[[20, 0, 1]]", "[[\"a\", 0]]"}) {
    auto json = a_profile();
    json["l2_curve"] = nlohmann::json::parse(curve);
    EXPECT_THAT(refusal(json.dump()), HasSubstr("l2_curve")) << curve;
  }
}

TEST_F(ProfileFile, UnknownKeysAndOtherTextsAreRefused) {
  auto json = a_profile();
  json["l3_bytes"] = 1;
  EXPECT_THAT(refusal(json.dump()), AllOf(HasSubstr("'l3_bytes' is unknown"), HasSubstr("l2_bytes")));
  EXPECT_THAT(refusal("{\"name\": "), AllOf(HasSubstr(path_), HasSubstr("no JSON")));
  EXPECT_THAT(refusal("[]"), HasSubstr("object"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THROW(load_profile("/nonexistent/profile.json"), UsageError);
}

TEST_F(ProfileFile, FoldersRepeatedKeysAndNumbersBeyondADoubleAreRefused) {
  EXPECT_THROW(load_profile(folder_ / "."), UsageError);
  EXPECT_THROW(load_profile("/dev/zero"), UsageError);
  EXPECT_THAT(refusal(R"({"name": "a", "name": "b"})"), HasSubstr("\"name\" is given twice"));
  EXPECT_THAT(refusal(R"({"sms": 1e400})"), HasSubstr("too large"));
}

// Rows name their device by its name alone: the gate, roofs and explain would take one for the other.
TEST_F(ProfileFile, ABuiltInsNameIsRefused) {
  for (const char* name : {"h200", "rtx4090", "NVIDIA H200"}) {
    auto json = a_profile();
    json["name"] = name;
    EXPECT_THAT(refusal(json.dump()), AllOf(HasSubstr(path_), HasSubstr(std::string("'name' is '") + name)));
  }
}

TEST_F(ProfileFile, ADeepValueIsRefused) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(refusal("{\"name\": " + deep + std::string(100'000, ']') + "}"), HasSubstr("brackets"));
}

}  // namespace
}  // namespace attnprof
