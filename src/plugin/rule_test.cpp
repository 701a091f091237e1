#include "plugin/rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnprof {
namespace {

using testing::HasSubstr;

constexpr std::string_view names[] = {"q_len", "br", "zero"};
constexpr RuleValue values[] = {{"q_len", 1000}, {"br", 64}, {"zero", 0}};

int64_t value_of(const std::string& text) { return Rule(text, names).value(values); }

TEST(Rule, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(value_of("7"), 7);
  EXPECT_EQ(value_of("2 + 3*4"), 14);
  EXPECT_EQ(value_of("(2+3) * 4"), 20);
  EXPECT_EQ(value_of("20 - 3 - 2"), 15);
  EXPECT_EQ(value_of("100/7/2"), 7);
  EXPECT_EQ(value_of("q_len / br"), 15);
  EXPECT_EQ(value_of("2*br*(q_len-1)"), 127872);
}

TEST(Rule, RoundsUpInBothSpellings) {
  EXPECT_EQ(value_of("ceil(q_len/br)"), 16);
  EXPECT_EQ(value_of("ceil(q_len, br)"), 16);
  EXPECT_EQ(value_of("ceil(128 / br)"), 2);
  EXPECT_EQ(value_of("ceil(q_len + 1, 2 * br) * 3"), 24);
  EXPECT_EQ(value_of("ceil((q_len + br) / 4)"), 266);
}

TEST(Rule, TakesTheSmallerAndTheLarger) {
  EXPECT_EQ(value_of("min(q_len, br) + max(1,2)"), 66);
  EXPECT_EQ(value_of("max(min(3, 4), ceil(9/2))"), 5);
}

TEST(Rule, ANumberIsOne) { EXPECT_EQ(Rule(128).value({}), 128); }

struct Wrong {
  const char* text;
  const char* words;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.text; }
class RuleThatIsNone : public testing::TestWithParam<Wrong> {};

TEST_P(RuleThatIsNone, IsRefusedWithTheReason) {
  try {
    const int64_t value = value_of(GetParam().text);
    FAIL() << "worth " << value;
  } catch (const RuleError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().words));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RuleThatIsNone,
    testing::Values(Wrong{"", "a number, a name or '('"}, Wrong{"   ", "it ends"}, Wrong{"1 +", "it ends"},
                    Wrong{"1 2", "there is '2'"}, Wrong{"-1", "there is '-'"}, Wrong{"(1", "')' is expected"},
                    Wrong{"1)", "there is ')'"}, Wrong{"heads", "'heads' is none of q_len, br, zero"},
                    Wrong{"q_len % 2", "there is '%'"}, Wrong{"1.5", "there is '.'"},
                    Wrong{"0x10", "there is 'x'"}, Wrong{"system(1)", "'system' is none of the functions"},
                    Wrong{"min(1)", "',' is expected"}, Wrong{"min(1,2,3)", "')' is expected"},
                    Wrong{"ceil(1)", "ceil takes a quotient"}, Wrong{"ceil(1/2+1)", "ceil takes a quotient"},
                    Wrong{"ceil()", "there is ')'"}, Wrong{"ceil 1", "'ceil' is none of"},
                    Wrong{"99999999999999999999", "too large"}, Wrong{"9223372036854775807 + 1", "64 bits"},
                    Wrong{"9223372036854775807 * 2", "64 bits"}, Wrong{"1 / zero", "divides by zero"},
                    Wrong{"ceil(1, zero)", "divides by zero"}, Wrong{"br - q_len", "-936, which is negative"},
                    Wrong{"(br - q_len) / 2", "negative"}, Wrong{"1\n+ 1", "there is '\n'"}));

TEST(Rule, DepthAndLengthAreLimited) {
  EXPECT_THROW(value_of(std::string(60, '(') + "1" + std::string(60, ')')), RuleError);
  EXPECT_EQ(value_of(std::string(40, '(') + "1" + std::string(40, ')')), 1);
  EXPECT_THROW(value_of(std::string(100'000, '(')), RuleError);
  EXPECT_THROW(value_of("1" + std::string(600, ' ')), RuleError);
}

}  // namespace
}  // namespace attnprof
