#include "plan/grammar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int64_t> axis(const std::string& text) { return parse_axis("-N", {text}); }

std::string axis_refusal(const std::vector<std::string>& texts) {
  try {
    parse_axis("-N", texts);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Grammar, ListsRangesAndSuffixes) {
  EXPECT_THAT(axis("512"), ElementsAre(512));
  EXPECT_THAT(axis("16k,1K"), ElementsAre(16384, 1024));
  EXPECT_THAT(axis("512:4k:x2"), ElementsAre(512, 1024, 2048, 4096));
  EXPECT_THAT(axis("512:4k:*2"), ElementsAre(512, 1024, 2048, 4096));
  EXPECT_THAT(axis("64:256:64"), ElementsAre(64, 128, 192, 256));
  EXPECT_THAT(axis("1k:3k:1k"), ElementsAre(1024, 2048, 3072));
  EXPECT_THAT(axis("5:5:1"), ElementsAre(5));
  EXPECT_THAT(axis("3:100:x3"), ElementsAre(3, 9, 27, 81));
  EXPECT_THAT(axis("1:1000:x5000000000"), ElementsAre(1));
}

TEST(Grammar, HighNeedNotBeHit) { EXPECT_THAT(axis("512:5000:x2"), ElementsAre(512, 1024, 2048, 4096)); }

TEST(Grammar, OptionsRepeatAndValuesDoNot) {
  EXPECT_THAT(parse_axis("-d", {"64,128", "128:256:x2"}), ElementsAre(64, 128, 256));
}

struct BadAxis {
  std::string text;
  std::string why;
};
void PrintTo(const BadAxis& axis, std::ostream* out) { *out << "-N " << axis.text; }
class GrammarRefuses : public testing::TestWithParam<BadAxis> {};

TEST_P(GrammarRefuses, NamingValueOptionAndGrammar) {
  const std::string sentence = axis_refusal({GetParam().text});
  EXPECT_THAT(sentence, HasSubstr("-N '" + GetParam().text + "'"));
  EXPECT_THAT(sentence, HasSubstr(GetParam().why));
  EXPECT_THAT(sentence, HasSubstr("lo:hi:xFACTOR"));
  EXPECT_THAT(sentence, testing::Not(HasSubstr("\n")));
}

INSTANTIATE_TEST_SUITE_P(
    Forms, GrammarRefuses,
    testing::Values(BadAxis{"", "empty"}, BadAxis{"512,", "empty"}, BadAxis{",512", "empty"},
                    BadAxis{"1,,2", "empty"}, BadAxis{"abc", "not a whole number"},
                    BadAxis{"5 12", "not a whole number"}, BadAxis{" 512", "not a whole number"},
                    BadAxis{"1.5", "not a whole number"}, BadAxis{"1e3", "not a whole number"},
                    BadAxis{"+512", "not a whole number"}, BadAxis{"k", "not a whole number"},
                    BadAxis{"16kk", "not a whole number"}, BadAxis{"16m", "not a whole number"},
                    BadAxis{"0x10", "not a whole number"}, BadAxis{"nan", "not a whole number"},
                    BadAxis{"-512", "negative"}, BadAxis{"512:-1:x2", "negative"},
                    BadAxis{"512:1024:-64", "negative"}, BadAxis{"0", "0 is not a size"},
                    BadAxis{"0k", "0 is not a size"}, BadAxis{"0:512:64", "0 is not a size"},
                    BadAxis{"512:1024:0", "never gets"}, BadAxis{"512:1024:x1", "never gets"},
                    BadAxis{"512:1024:*1", "never gets"}, BadAxis{"512:1024:x0", "never gets"},
                    BadAxis{"512:1024:x1.5", "factor"}, BadAxis{"512:1024:x-2", "factor"},
                    BadAxis{"512:1024:x", "factor"}, BadAxis{"1k:512:x2", "reversed"},
                    BadAxis{"128:64:16", "reversed"}, BadAxis{"512:1024", "three parts"},
                    BadAxis{"1:2:3:4", "three parts"}, BadAxis{"::", "missing"}, BadAxis{":5:1", "missing"},
                    BadAxis{"1:5:", "missing"}, BadAxis{"10000001", "above the limit"},
                    BadAxis{"7,10000001", " 10000001 is above"}, BadAxis{"10000k", "above the limit"},
                    BadAxis{"99999999999999999999", "64 bits"},
                    BadAxis{"9223372036854775807k", "above the limit"}, BadAxis{"1:10000000:1", "over"}));

TEST(Grammar, WordsAreListsWithoutEmptyEntries) {
  EXPECT_THAT(parse_words("--variant", {"naive,flash2", "naive"}), ElementsAre("naive", "flash2"));
  for (const char* text : {"", "naive,", ",", "a,,b"})
    EXPECT_THROW(parse_words("--variant", {text}), UsageError) << text;
}

TEST(Grammar, PercentAndTimesTakeUnits) {
  EXPECT_DOUBLE_EQ(parse_percent("--precision", "0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(parse_seconds("--max-time", "0.5s"), 0.5);
  EXPECT_DOUBLE_EQ(parse_seconds("--max-time", "500ms"), 0.5);
  EXPECT_DOUBLE_EQ(parse_seconds("--max-time", "20us"), 20e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("--max-time", "2min"), 120);
  for (const char* text : {"", "0.5", "0%", "-1%", "101%", "nan%", "inf%", "0.5 %", "0,5%", "%"})
    EXPECT_THROW(parse_percent("--precision", text), UsageError) << text;
  for (const char* text : {"", "5", "0s", "-1s", "nans", "infs", "1h", "1 s", "0,5s", "1e9s", "s"})
    EXPECT_THROW(parse_seconds("--max-time", text), UsageError) << text;
}

TEST(Grammar, CountsHaveTheSameSuffix) {
  EXPECT_EQ(parse_count("--tokens", "16k"), 16384);
  for (const char* text : {"", "1,2", "1:2:1", "-1", "0"})
    EXPECT_THROW(parse_count("--tokens", text), UsageError) << text;
}

}  // namespace
}  // namespace attnprof
