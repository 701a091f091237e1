// gate, baseline update and sweep --gate as a person calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run_fixture.hpp"
#include "files/meta.hpp"
#include "testing/fake_backend.hpp"
#include "testing/gate_files.hpp"
#include "testing/run_id.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class GateCommandTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::vector<Row>& rows) {
    write_text(folder / name, csv_of(rows));
    return folder / name;
  }
  static Row row(int64_t length, int64_t sm_bytes = 100'000'000, const std::string& run_id = "r1") {
    Row row = measured_row(length);
    row.counters.sm_total = sm_bytes;
    row.provenance.run = run_id;
    return row;
  }
  const TemporaryFolder folder;
};

TEST_F(GateCommandTest, ExitCodesAndOutputs) {
  const std::string good = file("good.csv", {row(1), row(2)}),
                    bad = file("bad.csv", {row(1), row(2, 102'000'000)});
  EXPECT_EQ(run({"gate", good, good}).code, 0);
  const Result failed = run({"gate", good, bad, "--markdown", folder / "m.md", "--junit", folder / "j.xml",
                             "--json", folder / "j.json"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, HasSubstr("sm_bytes 100 MB -> 102 MB"));
  EXPECT_THAT(text_of(folder / "m.md"), HasSubstr("### attnprof gate: failed"));
  EXPECT_THAT(text_of(folder / "j.xml"), HasSubstr("failures=\"1\""));
  EXPECT_EQ(nlohmann::json::parse(text_of(folder / "j.json"))["exit_code"], 1);
  EXPECT_EQ(run({"gate", good, bad, "--sm", "3%"}).code, 0);
  EXPECT_EQ(run({"gate", good, bad, "--fail-on", "latency,flops"}).code, 0);
  EXPECT_EQ(run({"gate", good, file("part.csv", {row(1)})}).code, 1);
  EXPECT_EQ(run({"gate", good, folder / "part.csv", "--allow-missing"}).code, 0);
  EXPECT_EQ(run({"gate", good, file("other.csv", {row(9)})}).code, 3);
  EXPECT_EQ(run({"gate", good, folder / "nosuch.csv"}).code, 2);
  EXPECT_EQ(run({"gate", good}).code, 2);
}

TEST_F(GateCommandTest, RowsOfOtherRunsNameTheOptionThatTakesThem) {
  const std::string base = file("base.csv", {row(1), row(2)}), last = file("last.csv", {row(2)});
  const std::string runs = file("runs.csv", {row(1), row(2, 100'000'000, "r2")});
  const Result missing = run({"gate", base, runs});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out,
              HasSubstr("1 of the missing rows are in other runs of " + runs + ": --run newest"));
  const Result nothing = run({"gate", file("first.csv", {row(1)}), runs});
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.out, AllOf(HasSubstr("gate compared nothing"), HasSubstr("--run newest")));
  EXPECT_EQ(run({"gate", base, runs, "--run", "newest"}).code, 0);
  EXPECT_THAT(run({"gate", base, last}).out, Not(HasSubstr("--run"))) << "it would not help";
}

TEST_F(GateCommandTest, NoVerdictReplacesAStaleGreenReport) {
  const std::string good = file("good.csv", {row(1)});
  write_text(folder / "torn.csv", csv_of({row(1)}).substr(0, 900));
  ASSERT_EQ(run({"gate", good, good, "--junit", folder / "j.xml"}).code, 0);
  const Result torn = run({"gate", good, folder / "torn.csv", "--junit", folder / "j.xml"});
  EXPECT_EQ(torn.code, 2);
  EXPECT_THAT(torn.err, HasSubstr("torn.csv, line 1, column "));
  EXPECT_THAT(text_of(folder / "j.xml"), HasSubstr("errors=\"1\""));
}

TEST_F(GateCommandTest, NeverWritesOverWhatItReads) {
  const std::string good = file("good.csv", {row(1)}), before = text_of(good);
  write_text(folder / "torn.csv", before.substr(0, 900));
  for (const char* option : {"--json", "--junit", "--markdown"})
    for (const std::string& other : {good, folder / "torn.csv"}) {
      EXPECT_THAT(run({"gate", good, other, option, good}).err, HasSubstr("is one of the files to read"));
      EXPECT_EQ(text_of(good), before) << option;
    }
}

TEST_F(GateCommandTest, RefusesWrongOptions) {
  const std::string good = file("good.csv", {row(1)});
  const auto refusal = [&](const Args& more) {
    Args args = {"gate", good, good};
    args.insert(args.end(), more.begin(), more.end());
    const Result result = run(args);
    EXPECT_EQ(result.code, 2) << more.front();
    return result.err;
  };
  EXPECT_THAT(refusal({"--hbm", "1"}), HasSubstr("--hbm '1': give a percentage"));
  EXPECT_THAT(refusal({"--hbm-floor", "-1"}), HasSubstr("--hbm-floor '-1': give bytes"));
  EXPECT_THAT(refusal({"--fail-on", "speed"}), HasSubstr("--fail-on 'speed' is none of latency"));
  EXPECT_THAT(refusal({"--allow-different", "backend"}), HasSubstr("never compared"));
  EXPECT_THAT(refusal({"--key", "a"}), HasSubstr("--key and --metric belong together"));
  EXPECT_THAT(refusal({"--metric", "a:lower:1%:0"}), HasSubstr("--key and --metric belong together"));
}

TEST_F(GateCommandTest, AnyCsv) {
  write_text(folder / "a.csv", "name,ms\nx,1.0\n");
  write_text(folder / "b.csv", "name,ms\nx,1.5\n");
  const Args args = {"gate",           "--key",         "name", "--metric", "ms:lower:1%:0.1",
                     folder / "a.csv", folder / "b.csv"};
  const Result result = run(args);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("worse        name=x: ms 1 -> 1.5 (+50.00 %, more than 1 % and 0.1)\n"));
}

// xformers' wrapper: a regressed run replaced the baseline.
TEST_F(GateCommandTest, TheGateWritesNoBaselineAndUpdateRefusesRegressions) {
  const std::string base = file("base.csv", {row(1), row(2)}),
                    worse = file("worse.csv", {row(1, 100'000'000, "r2"), row(2, 102'000'000, "r2")});
  const std::string before = text_of(base);
  EXPECT_EQ(run({"gate", base, worse}).code, 1);
  const Result refused = run({"baseline", "update", base, worse});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("base.csv is unchanged: rows regressed; give --accept-regressions"));
  EXPECT_EQ(text_of(base), before);
  EXPECT_EQ(run({"baseline", "update", base, worse, "--accept-regressions"}).code, 0);
  EXPECT_EQ(run({"gate", base, worse}).code, 0);
}

TEST_F(GateCommandTest, UpdateReplacesAddsAndKeeps) {
  Row skipped = row(2, 1, "r2");
  skipped.status.disposition = "skipped";
  const std::string base = file("base.csv", {row(1), row(2), row(3)});
  const std::string current = file("new.csv", {row(4, 100, "r2"), row(3, 99'000'000, "r2")});
  const Result result = run({"baseline", "update", base, current});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("base.csv: rows: 1 replaced, 1 added, 2 kept\n"));
  EXPECT_EQ(text_of(base), csv_of({row(1), row(2), row(3, 99'000'000, "r2"), row(4, 100, "r2")}));
  EXPECT_EQ(run({"baseline", "update", base, file("skip.csv", {skipped, row(1, 100'000'000, "r2")})}).code,
            1);
  EXPECT_EQ(run({"baseline", "update", base, folder / "skip.csv", "--accept-regressions"}).code, 0);
  EXPECT_THAT(text_of(base), Not(HasSubstr("skipped"))) << "a row without values replaces none";
}

TEST_F(GateCommandTest, UpdateMakesANewBaselineAndJoinsMetaAndColumns) {
  const std::string current = file("new.csv", {row(1)}), base = folder / "base.csv";
  write_text(meta_path(current), meta_of("r1", {{"driver", "1"}}));
  EXPECT_EQ(run({"baseline", "update", base, current}).code, 0);
  EXPECT_EQ(text_of(base), csv_of({row(1)}));
  std::string noted = csv_of({row(2, 5, "r2")});
  noted.insert(noted.rfind('\n'), ",fine");
  noted.insert(noted.find('\n'), ",note");
  write_text(folder / "noted.csv", noted);
  write_text(meta_path(folder / "noted.csv"), meta_of("r2", {{"driver", "1"}}));
  EXPECT_EQ(run({"baseline", "update", base, folder / "noted.csv"}).code, 0);
  std::string kept = csv_row(all_columns(), row(1));
  kept.insert(kept.rfind('\n'), ",");
  EXPECT_EQ(text_of(base), noted.substr(0, noted.find('\n') + 1) + kept + noted.substr(noted.find('\n') + 1));
  const auto meta = nlohmann::json::parse(text_of(meta_path(base)));
  EXPECT_TRUE(meta["runs"].contains("r1") && meta["runs"].contains("r2"));
}

TEST_F(GateCommandTest, UpdateRefusesATornOrIncomparableRun) {
  const std::string base = file("base.csv", {row(1)});
  const std::string before = text_of(base);
  write_text(folder / "torn.csv", before.substr(0, before.size() - 1));
  EXPECT_EQ(run({"baseline", "update", base, folder / "torn.csv"}).code, 2);
  Row other = row(1);
  other.provenance.env_id = "e9";
  EXPECT_EQ(run({"baseline", "update", base, file("other.csv", {other})}).code, 3);
  EXPECT_EQ(text_of(base), before);
}

// A GPU that answers with these medians, in the order it is asked, then with the last one.
std::function<void(FakeBackend&)> timed(std::vector<std::pair<double, Flag>> answers,
                                        size_t* asked = nullptr) {
  auto next = std::make_shared<size_t>(0);
  return [=](FakeBackend& backend) {
    backend.on_time = [=](Latency& latency, Status& status) {
      const auto& [factor, flag] = answers[std::min((*next)++, answers.size() - 1)];
      if (asked) *asked = *next;
      latency.latency_source = "cuda_events";
      latency.median_ns = 1e6 * factor;
      latency.ci95_low_ns = *latency.median_ns * 0.999;
      latency.ci95_high_ns = *latency.median_ns * 1.001;
      if (flag != Flag::uncalibrated) add_flag(status, flag);
    };
  };
}

class SweepGateTest : public GateCommandTest {
 protected:
  static Args sweep(const std::string& output, Args more = {}) {
    Args args = {"sweep", "--variant", "flash2", "-N", "512,1k", "-d", "64", "-o", output};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  void SetUp() override {
    ASSERT_EQ(run(sweep(base), timed({{1, Flag::uncalibrated}})).code, 0);
    before = text_of(base);
  }
  const std::string base = folder / "base.csv", now = folder / "now.csv";
  std::string before;
};

TEST_F(SweepGateTest, PassesAndFails) {
  const Result same = run(sweep(now, {"--gate", base}), timed({{1, Flag::uncalibrated}}));
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("gate passed: 2 rows and 2 values compared\n"));
  size_t asked = 0;
  const Result slow = run(sweep(now, {"--gate", base, "--overwrite", "--junit", folder / "j.xml"}),
                          timed({{1.2, Flag::uncalibrated}}, &asked));
  EXPECT_EQ(slow.code, 1);
  EXPECT_EQ(asked, 2u) << "what is certain is not measured again";
  EXPECT_THAT(slow.out,
              HasSubstr("latency_median_ns 1.00 ms -> 1.20 ms (+20.00 %, more than 5 % and 2.00 us)"));
  EXPECT_THAT(text_of(folder / "j.xml"), HasSubstr("failures=\"2\""));
  EXPECT_EQ(text_of(base), before);
}

TEST_F(SweepGateTest, AmbiguousCasesAloneAreMeasuredAgain) {
  size_t asked = 0;
  const Result result = run(
      sweep(now, {"--gate", base}),
      timed({{1, Flag::uncalibrated}, {1.3, Flag::gpu_shared}, {1.3, Flag::drift}, {1, Flag::uncalibrated}},
            &asked));
  EXPECT_EQ(result.code, 0) << result.out;
  EXPECT_EQ(asked, 4u);
  EXPECT_THAT(result.err, AllOf(HasSubstr("gate: 1 ambiguous case is measured again, 1 of at most 2 times\n"),
                                HasSubstr("2 of at most 2 times\n")));
  EXPECT_THAT(result.out, Not(HasSubstr("ambiguous")));
  EXPECT_EQ(without_run(text_of(now)), without_run(before)) << "the file holds what was measured last, once";
}

TEST_F(SweepGateTest, TheNumberOfRepetitionsIsBounded) {
  size_t asked = 0;
  const auto shared = timed({{1.3, Flag::gpu_shared}}, &asked);
  const Result result = run(sweep(now, {"--gate", base, "--gate-retries", "3"}), shared);
  EXPECT_EQ(asked, 2u + 3 * 2u);
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("2 ambiguous; measure the ambiguous rows again"));
  EXPECT_EQ(run(sweep(now, {"--gate", base, "--gate-retries", "0", "--overwrite", "--fail-on", "ambiguous"}),
                timed({{1.3, Flag::gpu_shared}}))
                .code,
            1);
}

TEST_F(SweepGateTest, EarlierRunsOfTheFileStayWhenRowsAreMeasuredAgain) {
  ASSERT_EQ(run(sweep(now), timed({{1, Flag::uncalibrated}})).code, 0);
  const std::string first = text_of(now);
  const Result result = run(sweep(now, {"--append", "--gate", base}),
                            timed({{1.3, Flag::gpu_shared}, {1, Flag::uncalibrated}}));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(text_of(now), testing::StartsWith(first));
  EXPECT_EQ(parse_rows(text_of(now), now).rows.size(), 4u);
}

TEST_F(SweepGateTest, CsvOnStandardOutputStaysWhole) {
  const Result result =
      run(sweep(now, {"--gate", base, "--format", "csv"}), timed({{1, Flag::uncalibrated}}));
  EXPECT_EQ(result.out, text_of(now));
  EXPECT_THAT(result.err, HasSubstr("gate passed"));
}

TEST_F(SweepGateTest, WhatCannotBeGated) {
  size_t asked = 0;
  write_text(folder / "torn.csv", before.substr(0, before.size() - 3));
  EXPECT_EQ(run(sweep(now, {"--gate", folder / "torn.csv"}), timed({{1, Flag::uncalibrated}}, &asked)).code,
            2);
  EXPECT_EQ(asked, 0u) << "known before anything is measured";
  EXPECT_FALSE(std::filesystem::exists(now));
  const auto other = [](FakeBackend& backend) {
    timed({{1, Flag::uncalibrated}})(backend);
    backend.info_.environment[0].second = "9.9";
  };
  const Result driver = run(sweep(now, {"--gate", base}), other);
  EXPECT_EQ(driver.code, 3) << "times alone were measured, and a new driver blocks them";
  EXPECT_THAT(driver.out,
              AllOf(HasSubstr("flash2"), HasSubstr("another driver: driver (1.2 in the baseline, 9.9 now)"),
                    HasSubstr("gate compared nothing")));
  asked = 0;
  const auto device = [&](FakeBackend& backend) {
    timed({{1, Flag::uncalibrated}}, &asked)(backend);
    backend.info_.device.name = "Another";
  };
  Args args = sweep(folder / "third.csv", {"--gate", base, "--json", folder / "g.json"});
  const Result refused = run(args, device);
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("Another now"));
  EXPECT_EQ(nlohmann::json::parse(text_of(folder / "g.json"))["exit_code"], 3);
  EXPECT_EQ(run({"sweep", "--variant", "flash2", "-N", "4k", "-d", "64", "--gate", base},
                timed({{1, Flag::uncalibrated}}, &asked))
                .code,
            3);
  EXPECT_EQ(asked, 0u) << "known before anything is measured";
  EXPECT_FALSE(std::filesystem::exists(folder / "third.csv"));
  EXPECT_EQ(run({"sweep", "--junit", folder / "j.xml"}).code, 2);
}

}  // namespace
}  // namespace attnprof
