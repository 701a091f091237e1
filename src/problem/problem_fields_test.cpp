#include "problem/problem_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "testing/window_field.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

// Another value of the field than `problem` has, which goes with the rest.
std::string another_value(const ProblemField& field, const Problem& problem) {
  if (field.is_count()) return std::to_string(problem.*field.count > 1 ? problem.*field.count / 2 : 7);
  for (const std::string_view word : field.words())
    if (word != field.text(problem)) return std::string(word);
  return "";
}

Problem sample() { return {.heads = 16, .kv_heads = 4, .q_len = 512, .kv_len = 1024}; }

// A member without an entry would be lost from rows, seeds and memos: the binding names them all, and stops
// compiling when there is another.
TEST(ProblemFields, ListEveryMemberOfAProblem) {
  [[maybe_unused]] const auto& [pass, dtype, mask, batch, heads, kv_heads, q_len, kv_len, head_dim, page_size,
                                further] = sample();
  constexpr size_t listed = 10;  // `further` belongs to fields of tests
  EXPECT_EQ(problem_fields().size(), listed);
  std::set<std::string_view> names;
  for (const ProblemField& field : problem_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.description.empty()) << field.name;
    EXPECT_NE(field.is_count(), field.words && !field.plural.empty()) << field.name;
    EXPECT_TRUE(field.first_schema || field.may_be_absent())
        << field.name << ": old files have no such column";
  }
}

TEST(ProblemFields, TextsRoundTrip) {
  const FurtherField with(window_field);
  for (const ProblemField& field : problem_fields()) {
    Problem problem;
    ASSERT_TRUE(field.set(problem, field.text(sample()))) << field.name;
    EXPECT_EQ(field.text(problem), field.text(sample())) << field.name;
    for (const char* none : {"", "-", "x", "-1", "10000001", "1.5", "1 "})
      EXPECT_FALSE(field.set(problem, none)) << field.name << " " << none;
  }
}

// A seed and a memo are made of these: a field that is missing there returns another case's numbers.
TEST(ProblemFields, EveryFieldIsInDescriptionsAndKeys) {
  const FurtherField with(window_field);
  for (const ProblemField& field : problem_fields()) {
    Problem problem = sample(), other = sample();
    problem.batch = 8, problem.further = 8, other = problem;
    const std::string value = another_value(field, problem);
    if (value.empty()) continue;  // a pass, of which there is one
    ASSERT_TRUE(field.set(other, value)) << field.name << " " << value;
    EXPECT_NE(other, problem) << field.name;
    EXPECT_NE(describe(other), describe(problem)) << field.name;
    EXPECT_NE(problem_key(other), problem_key(problem)) << field.name;
  }
}

TEST(ProblemFields, DescriptionsAreWhatSeedsHaveAlwaysHashed) {
  EXPECT_EQ(describe(sample()), "fp16 full b1 h16/4 q512 k1024 d64");
  Problem square{.dtype = Dtype::bf16, .mask = Mask::causal, .batch = 2, .q_len = 256, .kv_len = 256};
  EXPECT_EQ(describe(square), "bf16 causal b2 h16 N256 d64");
  const FurtherField with(window_field);
  EXPECT_EQ(describe(square), "bf16 causal b2 h16 N256 d64") << "nothing at its absent value";
  square.further = 128;
  EXPECT_EQ(describe(square), "bf16 causal b2 h16 N256 d64 window128");
}

TEST(ProblemFields, AbsenceIsAValueOrAnotherFields) {
  Problem problem;
  EXPECT_TRUE(find_problem_field("kv_heads")->is_absent(problem));
  problem.kv_heads = 4;
  EXPECT_FALSE(find_problem_field("kv_heads")->is_absent(problem));
  EXPECT_TRUE(find_problem_field("pass")->is_absent(problem));
  EXPECT_FALSE(find_problem_field("q_len")->may_be_absent());
  EXPECT_EQ(find_problem_field("window"), nullptr);
  EXPECT_THROW(problem_field_index("window"), std::logic_error);
}

TEST(ProblemFields, ContradictionsAreSentences) {
  Problem problem = sample();
  EXPECT_EQ(contradiction(problem), std::nullopt);
  problem.kv_heads = 3;
  EXPECT_THAT(contradiction(problem).value_or(""), HasSubstr("--kv-heads 3 does not divide heads = 16"));
}

}  // namespace
}  // namespace attnprof
