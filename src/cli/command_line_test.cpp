#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "cli/compile.hpp"
#include "cli/doctor.hpp"
#include "cli/gate.hpp"
#include "cli/list.hpp"
#include "cli/sweep.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

template <class T>
T parse(const std::vector<std::string>& args) {
  return dynamic_cast<const CommandOf<T>&>(*parse_command_line(args)).options;
}

SweepOptions sweep(std::vector<std::string> args) {
  args.insert(args.begin(), "sweep");
  return parse<SweepOptions>(args);
}

std::string refusal(const std::vector<std::string>& args) {
  try {
    parse_command_line(args);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::string sweep_refusal(std::vector<std::string> args) {
  args.insert(args.begin(), "sweep");
  return refusal(args);
}

TEST(Options, DefaultsAreThoseThatAreWritten) {
  const SweepOptions o = sweep({});
  EXPECT_THAT(o.axes.variants, ElementsAre("naive", "standard", "flash1", "flash2", "flash3"));
  EXPECT_THAT(o.axes.seqlens, ElementsAre(512, 1024, 2048, 4096));
  EXPECT_FALSE(o.axes.has_pairs());
  EXPECT_THAT(o.axes.values("head_dim"), ElementsAre("64", "128"));
  EXPECT_THAT(o.axes.values("batch"), ElementsAre("1"));
  EXPECT_THAT(o.axes.values("heads"), ElementsAre("16"));
  EXPECT_FALSE(o.axes.tokens || o.axes.hidden);
  EXPECT_TRUE(o.axes.values("kv_heads").empty() && o.axes.brs.empty() && o.axes.bcs.empty());
  EXPECT_THAT(o.axes.values("dtype"), ElementsAre("fp16"));
  EXPECT_THAT(o.axes.values("mask"), ElementsAre("full"));
  EXPECT_THAT(o.axes.caches, ElementsAre(CacheState::cold));
  EXPECT_EQ(o.device.backend, BackendChoice::automatic);
  EXPECT_FALSE(o.device.names_target());
  EXPECT_EQ(default_target, "h200");
  EXPECT_EQ(o.measure.verify, VerifyMode::sampled);
  EXPECT_EQ(o.measure.counters, CounterMode::automatic);
  EXPECT_DOUBLE_EQ(o.measure.precision, 0.005);
  EXPECT_DOUBLE_EQ(o.measure.max_time_s, 0.5);
  EXPECT_DOUBLE_EQ(o.measure.case_timeout_s, 30);
  EXPECT_EQ(o.measure.seed, 1u);
  EXPECT_EQ(o.measure.device, 0);
  EXPECT_TRUE(o.output.empty());
  EXPECT_EQ(o.existing, Existing::refuse);
  EXPECT_FALSE(o.dry_run);
  EXPECT_EQ(o.format, Format::table);
}

TEST(Options, TheIssuesCommandLine) {
  const SweepOptions o = sweep({"--variant",
                                "naive,standard,flash1,flash2",
                                "-N",
                                "512:16k:x2",
                                "-d",
                                "64,128",
                                "-b",
                                "1,8",
                                "--heads",
                                "16",
                                "--kv-heads",
                                "16",
                                "--br",
                                "64,128",
                                "--bc",
                                "32:128:x2",
                                "--dtype",
                                "fp16,bf16",
                                "--mask",
                                "full,causal",
                                "--cache",
                                "both",
                                "--backend",
                                "sim",
                                "--target",
                                "h200",
                                "--device",
                                "0",
                                "--counters",
                                "on",
                                "--verify",
                                "full",
                                "--precision",
                                "1%",
                                "--max-time",
                                "250ms",
                                "--case-timeout",
                                "5s",
                                "--seed",
                                "7",
                                "--kernels",
                                "DIR",
                                "-o",
                                "out.csv",
                                "--append",
                                "--dry-run",
                                "--format",
                                "csv",
                                "--columns",
                                "br,hbm_bytes"});
  EXPECT_THAT(o.axes.seqlens, ElementsAre(512, 1024, 2048, 4096, 8192, 16384));
  EXPECT_THAT(o.axes.values("batch"), ElementsAre("1", "8"));
  EXPECT_THAT(o.axes.values("kv_heads"), ElementsAre("16"));
  EXPECT_THAT(o.axes.brs, ElementsAre(64, 128));
  EXPECT_THAT(o.axes.bcs, ElementsAre(32, 64, 128));
  EXPECT_THAT(o.axes.values("dtype"), ElementsAre("fp16", "bf16"));
  EXPECT_THAT(o.axes.values("mask"), ElementsAre("full", "causal"));
  EXPECT_THAT(o.axes.caches, ElementsAre(CacheState::cold, CacheState::warm));
  EXPECT_EQ(o.measure.counters, CounterMode::on);
  EXPECT_EQ(o.measure.verify, VerifyMode::full);
  EXPECT_DOUBLE_EQ(o.measure.max_time_s, 0.25);
  EXPECT_EQ(o.measure.seed, 7u);
  EXPECT_EQ(o.measure.kernels_dir, "DIR");
  EXPECT_EQ(o.existing, Existing::append);
  EXPECT_TRUE(o.dry_run);
  EXPECT_THAT(o.columns, ElementsAre("br", "hbm_bytes"));
  EXPECT_THAT(o.command_line, HasSubstr("attnprof sweep --variant naive"));
}

TEST(Options, LongNamesAndRepeats) {
  const SweepOptions o = sweep({"--seqlen", "1k", "--seqlen=512", "--head-dim", "64", "--batch", "2", "--Br",
                                "64", "--Bc", "32", "--br", "128"});
  EXPECT_THAT(o.axes.seqlens, ElementsAre(1024, 512));
  EXPECT_THAT(o.axes.brs, ElementsAre(64, 128));
  EXPECT_THAT(o.axes.bcs, ElementsAre(32));
  const SweepOptions pairs = sweep({"--q-len", "1", "--kv-len", "4k"});
  EXPECT_THAT(pairs.axes.values("q_len"), ElementsAre("1"));
  EXPECT_THAT(pairs.axes.values("kv_len"), ElementsAre("4096"));
}

TEST(Options, InputsAndFp8) {
  EXPECT_EQ(sweep({}).measure.input, InputKind::normal);
  EXPECT_EQ(sweep({"--input", "outliers"}).measure.input, InputKind::outliers);
  EXPECT_THAT(sweep_refusal({"--input", "zeros"}), HasSubstr("--input 'zeros' is none of normal, outliers"));
  EXPECT_THAT(sweep({"--dtype", "bf16,fp8,e4m3"}).axes.values("dtype"), ElementsAre("bf16", "fp8"));
  EXPECT_THAT(sweep({"--dtype", "e4m3"}).axes.values("dtype"), ElementsAre("fp8"));
}

TEST(Options, TheFloorOfLatencyGoesWithItsThreshold) {
  const auto floor_ns = [](std::vector<std::string> more) {
    std::vector<std::string> args = {"gate", "a.csv", "b.csv"};
    args.insert(args.end(), more.begin(), more.end());
    return parse<GateCommand>(args).options.metrics.front().floor;
  };
  EXPECT_DOUBLE_EQ(floor_ns({}), 2000);
  EXPECT_DOUBLE_EQ(floor_ns({"--latency", "2%"}), 800);
  EXPECT_DOUBLE_EQ(floor_ns({"--latency", "2%", "--latency-floor", "3us"}), 3000);
}

TEST(Options, NegativeNumbersAreValuesToRefuse) {
  EXPECT_THAT(sweep_refusal({"-N", "-5"}),
              AllOf(HasSubstr("-N '-5'"), HasSubstr("negative"), HasSubstr("lo:hi")));
  EXPECT_THAT(sweep_refusal({"--seqlen", "-5"}), HasSubstr("negative"));
  EXPECT_THAT(sweep_refusal({"--seed", "-1"}), HasSubstr("--seed '-1'"));
}

TEST(Options, ContradictionsAreRefused) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"-N", "512", "-q", "1", "-k", "512"},
                                             {"-N", "512", "-k", "512"},
                                             {"-q", "1"},
                                             {"-k", "1"},
                                             {"--tokens", "16k", "-b", "1"},
                                             {"--tokens", "16k", "-q", "1", "-k", "1"},
                                             {"--hidden", "2048", "--heads", "16"},
                                             {"--target", "h200", "--target-file", "x.json"},
                                             {"-o", "x.csv", "--append", "--resume"},
                                             {"-o", "x.csv", "--append", "--overwrite"},
                                             {"-o", "x.csv", "--resume", "--overwrite"},
                                             {"--resume"},
                                             {"--append"},
                                             {"--overwrite"}})
    EXPECT_NE(sweep_refusal(args), "accepted") << args[0] << " " << args[1 % args.size()];
}

TEST(Options, APlanThatCannotBeIsRefusedBeforeADeviceIsOpened) {
  EXPECT_THAT(sweep_refusal({"--backend", "gpu", "--variant", "flash9"}),
              HasSubstr("'flash9' is none of naive"));
  EXPECT_THAT(sweep_refusal({"--kv-heads", "3"}), HasSubstr("does not divide heads = 16"));
  EXPECT_THAT(sweep_refusal({"--tokens", "100"}), HasSubstr("no multiple of N"));
  EXPECT_THAT(sweep_refusal({"--br", "1:1k:1", "--bc", "1:1k:1"}), HasSubstr("more than 100000 cases"));
}

TEST(Options, AnEmptyNameIsNotTakenAsNone) {
  for (const char* option :
       {"-o", "--output", "--config", "--target", "--target-file", "--kernels", "--cache-dir"})
    EXPECT_THAT(sweep_refusal({option, ""}), HasSubstr("the name is empty")) << option;
  EXPECT_THAT(refusal({"compile", "--arch", "sm_80", "-o", ""}), HasSubstr("the name is empty"));
}

TEST(Options, WhatDoctorWouldIgnoreIsRefused) {
  EXPECT_THAT(refusal({"doctor", "-o", "x.csv"}), HasSubstr("--self-test"));
  EXPECT_THAT(refusal({"doctor", "--self-test", "--format", "json"}), HasSubstr("contradict"));
}

TEST(Options, ACountNamesItsOwnGrammar) {
  EXPECT_THAT(sweep_refusal({"--tokens", "16k,32k"}),
              AllOf(HasSubstr("one number"), Not(HasSubstr("lo:hi"))));
}

TEST(Options, WordsOutsideAListNameTheList) {
  EXPECT_THAT(sweep_refusal({"--backend", "cpu"}), HasSubstr("--backend 'cpu' is none of auto, gpu, sim"));
  EXPECT_THAT(sweep_refusal({"--dtype", "fp4"}), HasSubstr("fp32, fp16, bf16, fp8"));
  EXPECT_THAT(sweep_refusal({"--mask", "sliding"}), HasSubstr("full, causal"));
  EXPECT_THAT(sweep_refusal({"--cache", "hot"}), HasSubstr("cold, warm, both"));
  EXPECT_THAT(sweep_refusal({"--verify", "yes"}), HasSubstr("sampled, full, off"));
  EXPECT_THAT(sweep_refusal({"--counters", "yes"}), HasSubstr("auto, on, off"));
  EXPECT_THAT(sweep_refusal({"--format", "xml"}), HasSubstr("table, csv, json"));
  EXPECT_THAT(sweep_refusal({"--columns", "speed"}),
              HasSubstr("--columns 'speed' is no column; attnprof list --columns"));
}

TEST(Options, EveryComplaintIsOneLine) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{},
                                             {"swep"},
                                             {"--frobnicate"},
                                             {"sweep", "--frobnicate"},
                                             {"sweep", "stray"},
                                             {"sweep", "-N"},
                                             {"sweep", "-o"},
                                             {"sweep", "--seed", "1", "--seed", "2"},
                                             {"sweep", "--dry-run=perhaps"},
                                             {"compile"},
                                             {"compile", "--arch"},
                                             {"list", "sweep"},
                                             {"doctor", "--format", "xml"}}) {
    const std::string sentence = refusal(args);
    EXPECT_NE(sentence, "accepted") << (args.empty() ? "" : args.back());
    EXPECT_THAT(sentence, Not(HasSubstr("\n")));
  }
  EXPECT_THAT(refusal({"swep"}), HasSubstr("'swep' is none of sweep"));
  EXPECT_EQ(refusal({"sweep", "--out", "x"}),
            "'--out' is no option of attnprof sweep; did you mean --output?");
  EXPECT_EQ(refusal({"sweep", "--frobnicate"}),
            "'--frobnicate' is no option of attnprof sweep; see attnprof sweep --help");
  EXPECT_THAT(refusal({"trace", "-o", "x.csv", "ls", "-l"}),
              HasSubstr("'ls' is no argument of attnprof trace; give the program after --"));
  EXPECT_THAT(refusal({"sweep", "stray", "more"}), HasSubstr("'stray' is no argument of attnprof sweep"));
  EXPECT_THAT(refusal({"--config", "x.toml", "sweep"}), HasSubstr("'--config' is no option of attnprof;"));
}

TEST(Options, HelpAndVersionAreText) {
  EXPECT_THAT(parse<ShowText>({"--version"}).text, HasSubstr("attnprof " ATTNPROF_VERSION));
  const std::string help = parse<ShowText>({"sweep", "--help"}).text;
  for (const char* part : {"--seqlen", "lo:hi:xFACTOR", "512,1024,2048,4096", "Exit codes", "--resume"})
    EXPECT_THAT(help, HasSubstr(part));
  EXPECT_THAT(parse<ShowText>({"--help"}).text,
              AllOf(HasSubstr("sweep"), HasSubstr("doctor"), Not(HasSubstr("worker"))));
}

TEST(Options, EveryCommandThatAPersonMayGiveIsExplained) {
  const std::string all = parse<ShowText>({"--help"}).text;
  std::set<std::string> names;
  for (const CommandEntry* entry : commands()) {
    EXPECT_TRUE(names.insert(entry->name).second) << entry->name << " is listed twice";
    if (entry->hidden) continue;
    EXPECT_THAT(all, HasSubstr(fmt::format("  {} ", entry->name)));
    EXPECT_THAT(all, HasSubstr(entry->help));
    EXPECT_THAT(parse<ShowText>({entry->name, "--help"}).text, HasSubstr(entry->help));
  }
  EXPECT_EQ(names.size(), 20u);
}

TEST(Options, WhatFollowsTheProgramIsItsOwn) {
  EXPECT_EQ(refusal({"trace", "-o", "x.csv", "--", "python", "--no-such-option", "-5"}), "accepted");
  EXPECT_THAT(refusal({"list", "--", "python"}), HasSubstr("'python' is no argument of attnprof"));
}

class ConfigFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  ~ConfigFile() override { std::filesystem::remove(path_); }
  std::string refused(const std::string& text) { return sweep_refusal({"--config", write(text)}); }

 private:
  std::string path_ = testing::TempDir() + "attnprof_config_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
};

TEST_F(ConfigFile, KeepsASweep) {
  const SweepOptions o =
      sweep({"--config", write("# a sweep\n[sweep]\nvariant = [\"naive\", \"flash2\"]\n"
                               "seqlen = \"512:2k:x2\"\nhead-dim = 64\nbr = [64, 128]\n"
                               "precision = \"1%\"\ndry-run = true\nmask = full,causal\n")});
  EXPECT_THAT(o.axes.variants, ElementsAre("naive", "flash2"));
  EXPECT_THAT(o.axes.seqlens, ElementsAre(512, 1024, 2048));
  EXPECT_THAT(o.axes.values("head_dim"), ElementsAre("64"));
  EXPECT_THAT(o.axes.brs, ElementsAre(64, 128));
  EXPECT_THAT(o.axes.values("mask"), ElementsAre("full", "causal"));
  EXPECT_DOUBLE_EQ(o.measure.precision, 0.01);
  EXPECT_TRUE(o.dry_run);
}

TEST_F(ConfigFile, TheCommandLineWins) {
  const std::string file = write("[sweep]\nseqlen = 512\nseed = 3\n");
  const SweepOptions o = sweep({"--config", file, "-N", "1k"});
  EXPECT_THAT(o.axes.seqlens, ElementsAre(1024));
  EXPECT_EQ(o.measure.seed, 3u);
}

// CLI11's reader adds the values of a key that stands in the next line again, and keeps others apart.
TEST_F(ConfigFile, AKeyGivenTwiceIsRefusedWithBothLines) {
  for (const char* text :
       {"[sweep]\nseed = 1\nseed = 2\n", "[sweep]\nseed = 1\n\n# again\nseed = 2\n",
        "[sweep]\nbatch = 2\nmask = full\nbatch = 4\n", "[sweep]\nbatch = 2\n[sweep]\nbatch = 4\n",
        "[sweep]\n\"batch\" = 2\nbatch = [1,\n2]\n", "[sweep]\ndry-run = true\ndry-run\n"})
    EXPECT_THAT(refused(text), AllOf(HasSubstr("is given twice, also in line 2"), HasSubstr(".toml")))
        << text;
  EXPECT_THAT(refused("[sweep]\nseqlen = 512\nN = 1k\n"),
              HasSubstr("line 3: key 'N' is given twice, also in line 2 as 'seqlen'; keep one"));
  EXPECT_THAT(refused("sweep.seed = 1\n[sweep]\nseed = 2\n"), HasSubstr("key 'seed' is given twice"));
  EXPECT_THAT(refused("[[sweep]]\nseed = 1\n[sweep]\nseed = 2\n"), HasSubstr("key 'seed' is given twice"));
  EXPECT_THAT(refused("[gate]\nhbm = 1%\nhbm = 2%\n[sweep]\n"), HasSubstr("key 'hbm' is given twice"));
}

TEST_F(ConfigFile, AListMayGoOnOverLines) {
  const SweepOptions o =
      sweep({"--config", write("[sweep]\nvariant = [\"naive\",\n\"flash2\"\n]\nbatch = [1,\n2\n]\n")});
  EXPECT_THAT(o.axes.variants, ElementsAre("naive", "flash2"));
  EXPECT_THAT(o.axes.values("batch"), ElementsAre("1", "2"));
}

TEST_F(ConfigFile, EachCommandReadsItsOwnSection) {
  const std::string file = write("[gate]\nhbm = 2%\nallow-missing = true\n[sweep]\nseed = 3\n");
  EXPECT_EQ(sweep({"--config", file}).measure.seed, 3u);
  const GateCommand gate = parse<GateCommand>({"gate", "a.csv", "b.csv", "--config", file});
  EXPECT_TRUE(gate.options.allow_missing);
  EXPECT_EQ(gate.options.metrics.at(1).relative, 0.02);
  EXPECT_EQ(
      parse<GateCommand>({"gate", "a", "b", "--hbm", "3%", "--config", file}).options.metrics.at(1).relative,
      0.03);
  EXPECT_THAT(refusal({"gate", "a", "b", "--config", write("[sweep]\nseed = 3\n")}),
              HasSubstr("section [gate] is missing"));
  EXPECT_THAT(refusal({"gate", "a", "b", "--config", write("[gate]\nseed = 3\n")}),
              HasSubstr("key 'seed' is unknown in section [gate]"));
  EXPECT_THAT(refused("[sweep]\nseed = 3\n[tune]\nx = 1\n"), HasSubstr("section [tune] is unknown"));
}

TEST_F(ConfigFile, AByteOrderMarkIsPassedOver) {
  EXPECT_EQ(sweep({"--config", write("\xEF\xBB\xBF[sweep]\r\nseed = 3\r\n")}).measure.seed, 3u);
}

TEST_F(ConfigFile, UnknownKeysAndMissingSectionsAreRefusedByName) {
  EXPECT_THAT(refused("[sweep]\nseqlne = 512\n"),
              AllOf(HasSubstr("'seqlne' is unknown"), HasSubstr(".toml")));
  EXPECT_THAT(refused("seqlen = 512\n"),
              AllOf(HasSubstr("'seqlen' stands outside a section"), HasSubstr(".toml")));
  EXPECT_THAT(refused("[swep]\nseqlen = 512\n"), HasSubstr("section [swep] is unknown"));
  EXPECT_THAT(refused(""), HasSubstr("section [sweep] is missing"));
  EXPECT_THAT(refused("# nothing\n"), HasSubstr("section [sweep] is missing"));
  EXPECT_THAT(refused("[sweep]\nconfig = x.toml\n"), HasSubstr("'config'"));
  EXPECT_THAT(refused("[sweep]\nzz\n"), HasSubstr("'zz' is no key = value"));
  EXPECT_THAT(sweep_refusal({"--config", "/nonexistent/x.toml"}), HasSubstr("/nonexistent/x.toml"));
}

TEST_F(ConfigFile, BadValuesAreRefused) {
  EXPECT_THAT(refused("[sweep]\nseqlen = 1k:512:x2\n"), AllOf(HasSubstr("reversed"), HasSubstr("1k:512:x2")));
  EXPECT_THAT(refused("[sweep]\nseqlen =\n"), HasSubstr("empty"));
  EXPECT_THAT(refused("[sweep]\ndry-run = perhaps\n"), HasSubstr("'perhaps'"));
  EXPECT_THAT(refused("[sweep]\nseed = 1\nseed = 2\n"), HasSubstr("seed"));
}

TEST(Options, OtherCommands) {
  const CompileCommand compile =
      parse<CompileCommand>({"compile", "--arch", "sm_80,sm_90a", "--variant", "flash2"});
  EXPECT_THAT(compile.archs, ElementsAre("sm_80", "sm_90a"));
  EXPECT_THAT(compile.axes.variants, ElementsAre("flash2"));
  EXPECT_TRUE(parse<ListOptions>({"list", "--columns", "--format", "markdown"}).columns);
  EXPECT_THAT(refusal({"list", "--format", "xml"}), HasSubstr("none of table, csv, json, markdown"));
  EXPECT_TRUE(parse<ListOptions>({"list", "--rules", "--format", "json"}).rules);
  EXPECT_TRUE(parse<ListOptions>({"list", "--levels", "--format", "json"}).levels);
  EXPECT_THAT(refusal({"list", "--levels", "--rules"}), HasSubstr("--levels"));
  EXPECT_TRUE(parse<DoctorCommand>({"doctor", "--format", "json"}).json);
  EXPECT_TRUE(parse<DoctorCommand>({"doctor", "--self-test", "-o", "x.csv"}).self_test);
  EXPECT_TRUE(parse_command_line({"worker"}));
}

}  // namespace
}  // namespace attnprof
