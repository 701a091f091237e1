#include "device/ceilings.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace attnprof {
namespace {

const Ceilings some = {
    {"hbm_read_gbps", {4310, 0.5, 30, 1980, 4800}},
    {"mma_bf16_tflops", {610, 1, 40, 1980, 989}},
    {"fma_tflops", {55, 1, 40, std::nullopt, std::nullopt}},
};

TEST(Ceilings, NamesAreDistinctAndEndInTheirUnit) {
  std::set<std::string_view> names;
  for (const CeilingKind& kind : ceiling_kinds) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    const auto unit = kind.name.substr(kind.name.rfind('_'));
    EXPECT_TRUE(unit == "_gbps" || unit == "_tflops" || unit == "_gops" || unit == "_ns") << kind.name;
  }
}

TEST(Ceilings, OnlyThoseOfTheSmsGoWithTheirClock) {
  EXPECT_EQ(ceiling_at(some, "mma_bf16_tflops", 990), 305);
  EXPECT_EQ(ceiling_at(some, "hbm_read_gbps", 990), 4310);
}

TEST(Ceilings, WithoutAClockTheyAreAsMeasured) {
  EXPECT_EQ(ceiling_at(some, "mma_bf16_tflops", std::nullopt), 610);
  EXPECT_EQ(ceiling_at(some, "fma_tflops", 990), 55);
  EXPECT_FALSE(ceiling_at(some, "exp_gops", 1980));
}

TEST(Ceilings, AreReadBackAsTheyWereWritten) {
  const Ceilings again = parse_ceilings(nlohmann::ordered_json::parse(ceilings_json(some).dump()));
  ASSERT_EQ(again.size(), some.size());
  for (const auto& [name, ceiling] : some) {
    const Ceiling& other = again.at(name);
    EXPECT_EQ(other.median, ceiling.median);
    EXPECT_EQ(other.spread_pct, ceiling.spread_pct);
    EXPECT_EQ(other.samples, ceiling.samples);
    EXPECT_EQ(other.sm_clock_mhz, ceiling.sm_clock_mhz);
    EXPECT_EQ(other.nominal, ceiling.nominal);
  }
}

TEST(Ceilings, AnythingElseIsRefused) {
  for (const char* text :
       {R"({"hbm_read_gbps": 4310})", R"({"hbm_read_gbps": {"spread_pct": 1}})",
        R"({"hbm_read_gbps": {"median": "4310"}})", R"({"hbm_read_gbps": {"median": 0}})",
        R"({"hbm_read_gbps": {"median": -4310}})", R"({"hbm_read_gbps": {"median": 4310, "nominal": 0}})",
        R"({"fma_tflops": {"median": 55, "sm_clock_mhz": -1980}})"})
    EXPECT_THROW(parse_ceilings(nlohmann::ordered_json::parse(text)), nlohmann::json::exception) << text;
}

}  // namespace
}  // namespace attnprof
