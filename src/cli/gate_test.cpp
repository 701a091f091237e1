// gate, baseline update and sweep --gate as a person calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

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
  EXPECT_THAT(failed.out, HasSubstr("SM bytes 100 MB -> 102 MB"));
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
  EXPECT_THAT(refusal({"--hbm", "1"}), HasSubstr("--hbm '1': give a threshold from 0%"));
  EXPECT_THAT(refusal({"--hbm-floor", "-1"}), HasSubstr("--hbm-floor '-1': give a threshold of 0 bytes"));
  EXPECT_THAT(refusal({"--fail-on", "speed"}), HasSubstr("--fail-on 'speed' is none of latency"));
  EXPECT_THAT(refusal({"--allow-different", "backend"}), HasSubstr("never compared"));
  EXPECT_THAT(
      refusal({"--allow-different", "drivr"}),
      AllOf(HasSubstr(
                "--allow-different 'drivr' is no fact of an environment; there are block, bytes_source, "),
            HasSubstr("did you mean driver?")));
  EXPECT_THAT(refusal({"--against", "main"}), HasSubstr("--against 'main' is none of baseline, merge-base"));
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
  EXPECT_THAT(result.out, HasSubstr("1 of 1 row worse: ms 1 -> 1.5 (+50.00 %, more than 1 % and 0.1)\n"));
}

// What the gate advises works as it is printed, whatever the files are called and the gate was asked.
TEST_F(GateCommandTest, TheAdvisedCommandWorksWhenCopied) {
  const std::string base = file("it's base.csv", {row(1)}), now = file("-n w$1.csv", {row(1, 102'000'000)});
  write_text(folder / "other a.csv", "name,ms,mb\nx,1.0,2\n");
  write_text(folder / "other b.csv", "name,ms,mb\nx,1.5,1\n");
  const auto advised = [&](Args args) {
    args.insert(args.end(), {"--json", folder / "g.json"});
    EXPECT_EQ(run(args).code, 1);
    const std::string advice = nlohmann::json::parse(text_of(folder / "g.json"))["advice"];
    return advice.substr(advice.find("attnprof baseline"));
  };
  const auto words_of = [&](const std::string& command) {  // as a shell reads them
    const std::string list = folder / "words";
    EXPECT_EQ(std::system(("set -- " + command + "; printf '%s\\n' \"$@\" >'" + list + "'").c_str()), 0);
    std::istringstream lines(text_of(list));
    Args words;
    for (std::string word; std::getline(lines, word);) words.push_back(word);
    EXPECT_EQ(words.front(), "attnprof");
    words.erase(words.begin());
    return words;
  };
  EXPECT_EQ(run(words_of(advised({"gate", base, now, "--sm", "1%", "--run", "r1"}))).code, 0);
  EXPECT_EQ(text_of(base), text_of(now));
  const Args other = {"gate",
                      "--key",
                      "name",
                      "--metric",
                      "ms:lower:1%:0",
                      "--metric",
                      "mb:lower:1%:0",
                      folder / "other a.csv",
                      folder / "other b.csv"};
  EXPECT_EQ(run(words_of(advised(other))).code, 0);
  EXPECT_EQ(text_of(folder / "other a.csv"), text_of(folder / "other b.csv"));
}

TEST_F(GateCommandTest, ThePullRequestsAdviceLetsItPass) {
  const std::string base = file("base.csv", {row(1)}), now = file("now.csv", {row(1, 102'000'000)});
  const Result failed = run({"gate", base, now, "--against", "merge-base"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, HasSubstr("--fail-on latency,flops,build,missing\n"));
  EXPECT_EQ(
      run({"gate", base, now, "--against", "merge-base", "--fail-on", "latency,flops,build,missing"}).code,
      0);
  Row other = row(1);
  other.provenance.device = "Another";
  write_text(meta_path(base), meta_of("r1", {{"driver", "1"}}));
  write_text(meta_path(folder / "o.csv"), meta_of("r1", {{"driver", "1"}}));
  const Result refused = run({"gate", base, file("o.csv", {other}), "--against", "merge-base"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err,
              HasSubstr("device (GPU at the merge base, Another now); measure both sides in one"));
}

// Rows that no file holds cannot be renewed from.
TEST_F(GateCommandTest, NoCommandNamesWhatCannotBeReadAgain) {
  const std::string base = file("base.csv", {row(1)}), now = file("now.csv", {row(1, 102'000'000)});
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { write_text(pipe, text_of(now)); });
  const Result result = run({"gate", base, pipe});
  writer.join();
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("renew the baseline, from a file of these rows (-o FILE.csv)"),
                                Not(HasSubstr("update " + base))));
}

TEST_F(GateCommandTest, JunitIsXmlWhateverRowsHold) {
  std::vector<Row> rows = {row(1), row(2), row(3)};
  rows[0].identity.variant = "<a href='x'>&\"\x01\xff]]>\n";
  rows[1].identity.knobs = "é\xed\xa0\x80 -- <!-- <![CDATA[";
  const std::string before = file("before.csv", rows);
  rows[0].status = {"failed", "]]> </failure> &#0; \x1b[31m", ""};
  rows[1].counters.sm_total = 200'000'000;
  run({"gate", before, file("now.csv", rows), "--junit", folder / "j.xml"});
  const std::string parse =
      "python3 -c \"import sys, xml.dom.minidom as dom; suite = dom.parse(sys.argv[1]); "
      "sys.exit(len(suite.getElementsByTagName('testcase')) != 3)\" '" +
      (folder / "j.xml") + "'";
  EXPECT_EQ(std::system(parse.c_str()), 0) << text_of(folder / "j.xml");
}

TEST_F(GateCommandTest, OutputsAreClaimedBeforeAnythingIsRead) {
  const std::string good = file("good.csv", {row(1)}), absent = folder / "absent/j.xml";
  ASSERT_EQ(run({"gate", good, good, "--json", folder / "g.json"}).code, 0);
  const Result refused = run({"gate", good, good, "--json", folder / "g.json", "--junit", absent});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("j.xml cannot be written"));
  EXPECT_THAT(refused.out, Not(HasSubstr("gate passed")));
  const Result twice = run({"gate", good, good, "--json", "/dev/stdout", "--junit", "/dev/stdout"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("/dev/stdout is named for two outputs"));
  std::filesystem::create_hard_link(folder / "g.json", folder / "hard.xml");
  EXPECT_EQ(run({"gate", good, good, "--json", folder / "g.json", "--junit", folder / "hard.xml"}).code, 2);
}

// An environment variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

// GitHub's summary of a step is one file for all gates of it, any other file is this gate's own.
TEST_F(GateCommandTest, TheJobSummaryIsAddedTo) {
  const std::string good = file("good.csv", {row(1)}), summary = folder / "summary", own = folder / "own.md";
  std::filesystem::create_symlink("summary", folder / "link");
  const Variable variable("GITHUB_STEP_SUMMARY", summary);
  write_text(summary, "of another tool\n");
  for (const std::string& name : {summary, folder / "link"})
    EXPECT_EQ(run({"gate", good, good, "--markdown", name}).code, 0);
  EXPECT_EQ(run({"gate", good, folder / "absent.csv", "--markdown", summary}).code, 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run({"gate", good, good, "--markdown", own}).code, 0);
  const std::string once = text_of(own);
  EXPECT_THAT(text_of(summary), testing::StartsWith("of another tool\n" + once + "\n" + once + "\n"));
  EXPECT_THAT(text_of(summary), HasSubstr("### attnprof gate: no verdict\n"));
}

TEST_F(GateCommandTest, AnnotationsOnGitHubOrWhereAskedFor) {
  const std::string good = file("good.csv", {row(1), row(2)}),
                    bad = file("bad.csv", {row(1), row(2, 102'000'000)});
  const std::string line = "\n::error title=attnprof gate::1 of 2 rows worse (q_len=2 kv_len=2): ";
  EXPECT_THAT(run({"gate", good, bad}).out, Not(HasSubstr("::error")));
  EXPECT_THAT(run({"gate", good, bad, "--annotate"}).out, HasSubstr(line));
  const Variable variable("GITHUB_ACTIONS", "true");
  EXPECT_THAT(run({"gate", good, bad}).out, HasSubstr(line));
  EXPECT_THAT(run({"gate", good, folder / "absent.csv"}).err,
              testing::StartsWith("::error title=attnprof gate%3A no verdict::"));
  const Args swept = {"sweep", "-N", "512", "-o", folder / "absent/rows.csv"};
  EXPECT_THAT(run(swept).err, AllOf(HasSubstr("absent"), Not(HasSubstr("::error")))) << "no gate";
}

// The kernel's source: by its variant in a sweep's rows, in the folder that the meta file names.
TEST_F(GateCommandTest, AnnotationsNameTheKernelsSource) {
  const std::string good = file("good.csv", {row(1)}), bad = file("bad.csv", {row(1, 102'000'000)});
  std::filesystem::create_directories(folder / "repo/kernels");
  write_text(folder / "repo/kernels/flash2.cu", "");
  auto meta = nlohmann::json::parse(meta_of("r1", {{"driver", "1"}}));
  meta["runs"]["r1"]["kernels"] = {{"path", folder / "repo/kernels"}, {"hash", "h"}};
  write_text(meta_path(bad), meta.dump());
  const Variable variable("GITHUB_WORKSPACE", folder / "repo");
  EXPECT_THAT(run({"gate", good, bad, "--annotate"}).out,
              HasSubstr("\n::error file=kernels/flash2.cu,title=attnprof gate::"));
  const Variable elsewhere("GITHUB_WORKSPACE", folder / "repo/kernels/none");
  EXPECT_THAT(run({"gate", good, bad, "--annotate"}).out, HasSubstr("\n::error title=attnprof gate::"));
}

TEST_F(GateCommandTest, UpdateTakesAnotherToolsTableAsTheGateDoes) {
  write_text(folder / "a.csv", "name,ms\nx,1.0\n");
  write_text(folder / "b.csv", "name,ms\nx,0.5\ny,2\n");
  EXPECT_EQ(run({"baseline", "update", folder / "a.csv", folder / "b.csv", "--key", "name", "--metric",
                 "ms:lower:1%:0"})
                .code,
            0);
  EXPECT_EQ(text_of(folder / "a.csv"), text_of(folder / "b.csv"));
}

TEST_F(GateCommandTest, ABrokenMetaNamesWhatToDoAboutIt) {
  const std::string base = file("base.csv", {row(1)}), now = file("now.csv", {row(1)});
  write_text(meta_path(base), "[]");
  write_text(meta_path(now), meta_of("r1", {{"driver", "1"}}));
  EXPECT_THAT(
      run({"gate", base, now}).err,
      HasSubstr("base.csv.meta.json is no attnprof meta file: it is no object; restore it, or move it away"));
  try {  // as every command reads it
    find_peaks("[]", "r1", "x.meta.json");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "x.meta.json is no attnprof meta file: it is no object; restore it, or move it away");
  }
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
  EXPECT_THAT(same.out, HasSubstr("gate passed: 2 of 2 rows the same; 2 values compared\n"));
  size_t asked = 0;
  const Result slow = run(sweep(now, {"--gate", base, "--overwrite", "--junit", folder / "j.xml"}),
                          timed({{1.2, Flag::uncalibrated}}, &asked));
  EXPECT_EQ(slow.code, 1);
  EXPECT_EQ(asked, 2u) << "what is certain is not measured again";
  EXPECT_THAT(slow.out, HasSubstr("2 of 2 rows worse: latency in 2, at most 1.00 ms -> 1.20 ms (+20.00 %)"));
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
  EXPECT_THAT(result.out, AllOf(HasSubstr("gate passed: 2 of 2 rows ambiguous"),
                                HasSubstr("measure the ambiguous rows again")));
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
