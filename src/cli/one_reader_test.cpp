// Every command that reads rows or a .meta.json takes what the others take, and ends in 2 with the same
// sentence where it cannot.
#include <algorithm>

#include "base/version.hpp"
#include "cli/sweep_fixture.hpp"
#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class OneReader : public testing::Test {
 protected:
  OneReader() {
    EXPECT_EQ(run(plan({"-o", good_})).code, 0);
    meta_ = text_of(good_ + ".meta.json");
    write_text(bad_, text_of(good_));
    write_text(bad_ + ".meta.json", meta_);
  }

  std::vector<Args> commands() const {
    return {{"gate", good_, bad_},
            {"gate", bad_, good_},
            {"baseline", "update", bad_, good_},
            {"baseline", "update", good_, bad_},
            {"explain", bad_},
            {"roofline", bad_},
            {"published", bad_},
            {"check-rows", good_, bad_},
            plan({"--gate", bad_}),
            plan({"-o", bad_, "--resume"}),
            plan({"-o", bad_, "--append"})};
  }
  // Of all of them: what they say has `sentence`, and no file is touched.
  void expect_all_refuse(const std::string& sentence) const {
    const std::string rows = text_of(bad_), meta = text_of(bad_ + ".meta.json");
    for (const Args& args : commands()) {
      const Result result = run(args);
      EXPECT_EQ(result.code, 2) << args[0] << ' ' << args[1];
      EXPECT_THAT(result.err, HasSubstr(sentence)) << args[0] << ' ' << args[1];
      EXPECT_EQ(text_of(bad_), rows);
      EXPECT_EQ(text_of(bad_ + ".meta.json"), meta);
    }
  }

  TemporaryFolder folder_;
  const std::string good_ = folder_ / "good.csv", bad_ = folder_ / "bad.csv";
  std::string meta_;
};

TEST_F(OneReader, RowsThatCannotBe) {
  const std::string good = text_of(good_);
  const std::pair<const char*, const char*> cells[] = {
      {",model,12500,", ",model,-5,"}, {",model,12500,", ",model,1e308,"}, {",ok,", ",fine,"}};
  for (const auto& [from, to] : cells) {
    write_text(bad_, replaced(good, from, to));
    ASSERT_NE(text_of(bad_), good) << from;
    expect_all_refuse(bad_ + ", line 2, column ");
  }
}

TEST_F(OneReader, AnInvertedInterval) {
  std::string good = csv_of({measured_row()});
  write_text(bad_, replaced(good, "997000,1.003e+06", "2e+06,1.003e+06"));
  ASSERT_NE(text_of(bad_), good);
  expect_all_refuse(bad_ + ", line 2, column latency_ci95_low_ns: it is above the median");
}

TEST_F(OneReader, RowsOfANewerSchema) {
  std::string text = text_of(good_);
  write_text(bad_, replaced(text, ",cold,1,", ",cold,99,"));
  ASSERT_NE(text_of(bad_), text);
  expect_all_refuse(bad_ + ", line 2, column schema: a newer attnprof wrote schema 99");
}

TEST_F(OneReader, AMetaOfANewerSchema) {
  write_text(bad_ + ".meta.json", replaced(meta_, "\"schema\": \"1\"", "\"schema\": \"99\""));
  expect_all_refuse(bad_ + ".meta.json: a newer attnprof wrote schema 99");
  write_text(bad_ + ".meta.json", replaced(meta_, "\"schema\": \"1\"", "\"schema\": 99"));
  expect_all_refuse(bad_ + ".meta.json: a newer attnprof wrote schema 99");
}

TEST_F(OneReader, AMetaThatIsNone) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("{\"runs\": []}"),
        std::string("{\"runs\": {\"r\": 1}}"), "{\"runs\": {\"r\": {\"a\": " + deep + "}}}"}) {
    write_text(bad_ + ".meta.json", text);
    expect_all_refuse(bad_ + ".meta.json is no attnprof meta file: ");
  }
}

// Rows of two versions are of two protocols: a run is one, a file may hold both.
TEST_F(OneReader, ARunOfAnotherVersionIsNotResumedAndAppendSaysWhose) {
  const std::string here = std::string(tool_version());
  write_text(bad_ + ".meta.json", replaced(meta_, "\"version\": \"" + here + "\"", "\"version\": \"9.9.9\""));
  const Result resumed = run(plan({"-o", bad_, "--resume"}));
  EXPECT_EQ(resumed.code, 2);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("begun by attnprof 9.9.9 (commit "),
                                 HasSubstr("and this is attnprof " + here), HasSubstr("--append")));
  const Result appended = run(plan({"-o", bad_, "--append"}));
  EXPECT_EQ(appended.code, 0) << appended.err;
  EXPECT_THAT(appended.err, HasSubstr("has runs by attnprof 9.9.9 (commit "));
  EXPECT_EQ(read_rows(bad_).rows.size(), 8u);
  EXPECT_EQ(run(plan({"-o", good_, "--append"})).err.find("has runs by"), std::string::npos);
}

TEST_F(OneReader, ARunOfAnotherCommitIsNotResumed) {
  write_text(bad_ + ".meta.json", replaced(meta_, "\"commit\": \"" + std::string(tool_commit()) + "\"",
                                           "\"commit\": \"0000000\""));
  EXPECT_THAT(run(plan({"-o", bad_, "--resume"})).err, HasSubstr("(commit 0000000)"));
}

TEST_F(OneReader, WhatHasNoEndIsRefused) {
  for (const Args& args : std::vector<Args>{{"gate", good_, "/dev/zero"},
                                            {"explain", "/dev/zero"},
                                            {"roofline", "/dev/zero"},
                                            {"published", "/dev/zero"},
                                            {"sweep", "--config", "/dev/zero"}}) {
    const Result result = run(args);
    EXPECT_EQ(result.code, 2) << args[0];
    EXPECT_THAT(result.err, HasSubstr("/dev/zero cannot be read")) << args[0];
  }
}

}  // namespace
}  // namespace attnprof
