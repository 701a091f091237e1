#include "explain/selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "testing/roofline_rows.hpp"

namespace attnprof {
namespace {

bool takes(const char* text, const Row& row = roofline_row()) {
  return Selector::parse("--case", text).takes(row);
}

TEST(Selector, TakesRowsWithEveryValue) {
  EXPECT_TRUE(takes("variant=flash2"));
  EXPECT_TRUE(takes("variant=flash2,N=1k,head_dim=64,mask=full,tile=auto"));
  EXPECT_FALSE(takes("variant=flash2,N=2k"));
  EXPECT_FALSE(takes("variant=naive"));
  EXPECT_TRUE(takes("run=r1"));
}

TEST(Selector, NIsBothLengths) {
  Row decode = roofline_row();
  decode.identity.count("q_len") = 1;
  EXPECT_FALSE(takes("N=1k", decode));
  EXPECT_TRUE(takes("q_len=1,kv_len=1k", decode));
}

TEST(Selector, ShortNamesAreThoseOfTables) {
  EXPECT_TRUE(takes("d=64"));
  EXPECT_FALSE(takes("d=128"));
  EXPECT_FALSE(takes("page=16"));
}

TEST(Selector, RefusesWhatItCannotRead) {
  const auto refused = [](const char* text) {
    try {
      Selector::parse("--case", text);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused("flash2"), testing::HasSubstr("'flash2' is no COLUMN=VALUE"));
  EXPECT_THAT(refused("variant=flash2,"), testing::HasSubstr("is no COLUMN=VALUE"));
  EXPECT_THAT(refused("variant="), testing::HasSubstr("is no COLUMN=VALUE"));
  EXPECT_THAT(refused("latency_median_ns=3"), testing::HasSubstr("is no column to select by"));
  EXPECT_THAT(refused("nosuch=3"), testing::HasSubstr("is no column to select by"));
  EXPECT_THAT(refused("varient=flash2"), testing::HasSubstr("; did you mean variant?"));
  EXPECT_THAT(refused("N=many"), testing::HasSubstr("many"));
}

}  // namespace
}  // namespace attnprof
