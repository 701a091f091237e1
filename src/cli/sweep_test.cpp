// What a sweep prints, writes and ends with.

#include <clocale>
#include <csignal>
#include <cstdio>
#include <locale>

#include "base/error.hpp"
#include "cli/sweep_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SweepCommand, WritesExactlyThis) {
  const TemporaryFolder folder;
  const Result result =
      run({"sweep", "--variant", "flash2", "-N", "512", "-d", "64", "-o", folder / "o.csv"});
  EXPECT_EQ(result.code, 0) << result.err;
  std::string expected = csv_header(all_columns());
  // 16 heads of Q, K, V, O of 64 kB each are 4194304 bytes; every of 4 Q tiles reads all of K and V again.
  expected +=
      "flash2,fwd,fp16,full,1,16,16,512,512,64,0,auto,-,cold,1,RUN,d568a1e866a599fa,gpu,\"Fake GPU, \"\"2 "
      "SMs\"\"\","
      "k1-flash2,128,128,stages=2;warp_rows=32;q_in_registers=0;min_blocks=1,ok,,uncalibrated,yes,0.0001,0."
      "0002,model,12500,,,,,,,,none,,,,,,,,,,,,,,"
      "10485760,0,4194304,4194304,1073741824,1073741824,,1073741824,85.8993,85.8993,,,,,,,1,,,,,,,,,,,"
      "\n";
  EXPECT_EQ(without_run(text_of(folder / "o.csv")), expected);
  EXPECT_THAT(result.err, AllOf(HasSubstr("backend fake\n"),
                                HasSubstr("[1/1] flash2 128x128 fp16 full b1 h16 N512 d64 cold\n"),
                                Not(HasSubstr("nothing was written"))));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("flash2"), HasSubstr("12.5"), HasSubstr("TFLOP/s"), HasSubstr("85.9")));
}

struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(SweepCommand, TheLocaleChangesNoByte) {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& name) {
    const Result result = run(plan({"-o", folder / name, "--format", "json"}));
    return without_run(text_of(folder / name) + result.out);
  };
  const std::string english = sweep("c.csv");
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // for printf's kind, where the system has it
  const std::string german = sweep("de.csv");
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(german, english);
  EXPECT_EQ(text_of(folder / "de.csv.meta.json").find("1.000"), std::string::npos)
      << "no thousands separators";
}

TEST(SweepCommand, KnobsAreAnAxisThatIsResumedAndDescribed) {
  const TemporaryFolder folder;
  const std::string file = folder / "k.csv";
  const Args args = plan({"--knob", "stages=1,2", "-o", file});
  const auto knobs = [&] {
    std::vector<std::string> all;
    for (const Row& row : read_rows(file).rows)
      all.push_back(row.identity.variant + " " + row.identity.knobs);
    return all;
  };
  const std::vector<std::string> expected = {"naive -", "flash2 stages=1", "flash2 stages=2",
                                             "naive -", "flash2 stages=1", "flash2 stages=2"};
  EXPECT_THAT(run(args).err, HasSubstr("[2/6] flash2 128x128 stages=1 fp16"));
  EXPECT_EQ(knobs(), expected);
  const std::string whole = text_of(file);
  write_text(file, whole.substr(0, whole.find("flash2,fwd,fp16,full,1,16,16,1024")));
  Args resumed = args;
  resumed.push_back("--resume");
  EXPECT_EQ(run(resumed).code, 0);
  EXPECT_EQ(knobs(), expected);
  EXPECT_EQ(run(plan({"--knob", "stages=9"})).code, 2);
}

TEST(SweepCommand, EveryCaseIsNamedBeforeItRuns) {
  const Result result =
      run({"sweep", "--variant", "flash2", "-N", "512", "-d", "64"}, [](FakeBackend& backend) {
        backend.on_prepare = [](const Case&) { std::fputs("it runs\n", stderr); };
      });
  EXPECT_THAT(result.err, HasSubstr("it runs"));
  EXPECT_LT(result.err.find("[1/1] flash2"), result.err.find("it runs")) << result.err;
}

TEST(SweepCommand, WithoutAFileAHintSaysSo) {
  const Result result = run(plan());
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("nothing was written; -o FILE.csv"));
}

TEST(SweepCommand, ExitCodes) {
  const TemporaryFolder folder;
  const auto fail = [](FakeBackend& backend) {
    backend.on_prepare = [](const Case& c) {
      if (c.problem.q_len == 512) throw CaseFailed("the kernel crashed, \"badly\"");
    };
  };
  const Result failed = run(plan({"-o", folder / "failed.csv"}), fail);
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("failed: the kernel crashed"));
  EXPECT_THAT(dispositions(folder / "failed.csv"), testing::ElementsAre("failed", "failed", "ok", "ok"));
  EXPECT_EQ(read_rows(folder / "failed.csv").rows[0].status.reason, "the kernel crashed, \"badly\"");

  const Result wrong =
      run(plan({"-o", folder / "wrong.csv"}), [](FakeBackend& backend) { backend.wrong_variant = "naive"; });
  EXPECT_EQ(wrong.code, 1);
  const auto rows = read_rows(folder / "wrong.csv").rows;
  EXPECT_EQ(rows[0].status.disposition, "incorrect");
  EXPECT_FALSE(rows[0].latency.median_ns || rows[0].roofline.useful_tflops_per_s)
      << "no speed for a wrong output";

  EXPECT_EQ(run(plan({"--br", "24"})).code, 3) << "all skipped";
  EXPECT_THAT(run(plan({"--br", "24"})).err, HasSubstr("every case was skipped"));
  EXPECT_EQ(run(plan({"--br", "24,64"})).code, 0) << "some skipped";
  EXPECT_EQ(run(plan({"-N", "0"})).code, 2);
  EXPECT_EQ(run({"sweep", "--variant", "none-such"}).code, 2);
  EXPECT_THAT(run(plan({"-N", "0"})).err, testing::StartsWith("attnprof: -N '0'"));
}

TEST(SweepCommand, AnInterruptKeepsWhatWasMeasured) {
  const TemporaryFolder folder;
  const Result result = run(plan({"-o", folder / "o.csv"}), [](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) {
      if (backend.prepared == 2) raise(SIGINT);
    };
  });
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(dispositions(folder / "o.csv"), testing::ElementsAre("ok", "ok"));
  EXPECT_THAT(result.err, HasSubstr("--resume completes it"));
  const Result last = run(plan(), [](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) {
      if (backend.prepared == 4) raise(SIGINT);
    };
  });
  EXPECT_EQ(last.code, 130) << "also in the last case";
}

TEST(SweepCommand, AnErrorThatEndsTheSweepStillPrintsWhatWasMeasured) {
  const TemporaryFolder folder;
  const Change lost = [](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) {
      if (backend.prepared == 3) throw EnvironmentError("the GPU is lost");
    };
  };
  const Result result = run(plan({"-o", folder / "o.csv"}), lost);
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, AllOf(HasSubstr("naive"), HasSubstr("12.5")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("--resume completes it"), HasSubstr("attnprof: the GPU is lost")));
  EXPECT_THAT(dispositions(folder / "o.csv"), testing::ElementsAre("ok", "ok"));
  EXPECT_THAT(run(plan({"--format", "json"}), lost).out, HasSubstr("\"latency_median_ns\": 12500"));
}

TEST(SweepCommand, StandardOutputIsPureInEveryFormat) {
  const Result csv = run(plan({"--format", "csv"}));
  EXPECT_EQ(parse_rows(csv.out, "stdout").rows.size(), 4u);
  EXPECT_EQ(run(plan({"--format", "csv", "--columns", "variant,q_len"})).out,
            "variant,q_len\nnaive,512\nflash2,512\nnaive,1024\nflash2,1024\n");
  EXPECT_EQ(run(plan({"-N", "512", "--variant", "flash2", "--format", "json", "--columns",
                      "variant,q_len,hbm_bytes"}))
                .out.substr(0, 1),
            "[");
}

}  // namespace
}  // namespace attnprof
