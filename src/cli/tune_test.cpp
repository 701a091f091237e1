// `attnprof tune` with a backend whose latencies are a function of the tile, and with the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "cli/run_fixture.hpp"
#include "files/meta.hpp"
#include "row/row_csv.hpp"
#include "testing/fake_backend.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Latencies = std::map<std::string, double>;  // ns by "64x32"

// Medians as given, 1000 where not; an interval of 1 % in the quick pass and of 0.1 % in the precise one.
BackendOpener tiles_take(const Latencies& latencies,
                         const std::function<void(const Case&)>& on_prepare = {}) {
  return [=](const DeviceChoice& choice, const MeasureOptions& options) {
    const double width = options.precision > 0.01 ? 0.01 : 0.001;
    return opener([=](FakeBackend& backend) {
      const auto current = std::make_shared<std::string>();
      backend.on_prepare = [=](const Case& c) {
        *current = std::to_string(c.tile.br) + "x" + std::to_string(c.tile.bc);
        if (on_prepare) on_prepare(c);
      };
      backend.on_time = [=](Latency& latency, Status&) {
        const auto found = latencies.find(*current);
        const double median = found == latencies.end() ? 1000 : found->second;
        latency.latency_source = "cuda_events";
        latency.median_ns = median;
        latency.ci95_low_ns = median * (1 - width), latency.ci95_high_ns = median * (1 + width);
      };
    })(choice, options);
  };
}

Args plan(Args more = {}) {
  Args args = {"tune", "--variant", "flash2", "-N",          "512",      "-d",  "64",
               "--br", "64",        "--bc",   "16,32,48,64", "--format", "csv", "--no-compile"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

// place -> column of the printed CSV.
std::map<std::string, std::string> printed(const std::string& out, const std::string& column) {
  const CsvText csv = parse_csv(out, "stdout");
  const auto& header = csv.records.front().fields;
  const auto at = [&](const std::string& name) {
    return static_cast<size_t>(std::ranges::find(header, name) - header.begin());
  };
  std::map<std::string, std::string> values;
  for (size_t i = 1; i < csv.records.size(); ++i)
    values[csv.records[i].fields.at(at("place"))] = csv.records[i].fields.at(at(column));
  return values;
}

const Latencies apart = {{"64x16", 900}, {"64x32", 500}, {"64x48", 505}, {"64x64", 800}};

TEST(TuneCommand, NamesBestRunnerUpAndDefault) {
  const Result result = run_on(plan(), tiles_take(apart));
  EXPECT_EQ(result.code, 0) << result.err;
  const auto tiles = printed(result.out, "tile");
  EXPECT_EQ(tiles.at("best"), "64x32");
  EXPECT_EQ(tiles.at("runner-up"), "64x48");
  EXPECT_EQ(tiles.at("default"), "auto");
  EXPECT_EQ(printed(result.out, "within_noise").at("runner-up"), "no");
  EXPECT_EQ(printed(result.out, "slower_pct").at("runner-up"), "1.00");
  EXPECT_EQ(printed(result.out, "slower_pct").at("default"), "100.00");
}

TEST(TuneCommand, SaysWhatIsWithinNoise) {
  Latencies close = apart;
  close["64x48"] = 500.5;
  const Result result = run_on(plan(), tiles_take(close));
  EXPECT_EQ(printed(result.out, "within_noise").at("runner-up"), "yes");
  Args args = plan();
  std::ranges::replace(args, "csv", "table");
  EXPECT_THAT(run_on(args, tiles_take(close)).out,
              AllOf(HasSubstr("5 of 5 candidates measured"), HasSubstr("which is within noise")));
}

TEST(TuneCommand, KeepsEveryRowInARunForEachPass) {
  const TemporaryFolder folder;
  const std::string file = folder / "tune.csv";
  EXPECT_EQ(run_on(plan({"-o", file}), tiles_take(apart)).code, 0);
  std::map<std::string, std::vector<std::string>> tiles_by_run;
  std::vector<std::string> runs;
  for (const Row& row : read_rows(file).rows) {
    if (!tiles_by_run.contains(row.provenance.run)) runs.push_back(row.provenance.run);
    tiles_by_run[row.provenance.run].push_back(row.identity.tile);
  }
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_THAT(tiles_by_run[runs[0]], ElementsAre("auto", "64x16", "64x32", "64x48", "64x64"));
  EXPECT_THAT(tiles_by_run[runs[1]], ElementsAre("64x32", "64x48", "auto"));
  const auto meta = nlohmann::json::parse(text_of(meta_path(file)));
  EXPECT_DOUBLE_EQ(meta["runs"][runs[0]]["options"]["precision"], 0.03);
  EXPECT_DOUBLE_EQ(meta["runs"][runs[1]]["options"]["precision"], 0.005);
  EXPECT_THAT(meta["runs"][runs[0]]["command_line"], HasSubstr("# quick pass"));
  EXPECT_EQ(run_on(plan({"-o", file}), tiles_take(apart)).code, 2) << "the file is there";
  EXPECT_EQ(run_on(plan({"-o", file, "--append"}), tiles_take(apart)).code, 0);
  EXPECT_EQ(read_rows(file).rows.size(), 16u);
  EXPECT_EQ(run_on(plan({"-o", file, "--overwrite"}), tiles_take(apart)).code, 0);
  EXPECT_EQ(read_rows(file).rows.size(), 8u);
}

TEST(TuneCommand, AWrongCandidateIsOutAndSaid) {
  const Result result = run_on(plan(), tiles_take(apart, [](const Case& c) {
                                 if (c.tile.bc == 32) throw CaseFailed("the kernel crashed");
                               }));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("the kernel crashed"));
  EXPECT_EQ(printed(result.out, "tile").at("best"), "64x48");
}

TEST(TuneCommand, WhatCannotRunIsCountedAndNotMeasured) {
  Args args = plan({"--br", "24"});
  const Result result = run_on(args, tiles_take(apart));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("9 candidates for 1 problem"), HasSubstr("4 cannot run"),
                                HasSubstr("4 such as 24x16: Br = 24 is no multiple of 16"),
                                HasSubstr("quick pass: 5 cases")));
}

TEST(TuneCommand, NothingToMeasureIsTheEnvironments) {
  Args args = plan({"--dtype", "fp32"});
  const Result result = run_on(args, tiles_take(apart));
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("no candidate runs on this device"));
}

TEST(TuneCommand, AnInterruptKeepsWhatIsKnown) {
  const TemporaryFolder folder;
  const std::string file = folder / "tune.csv";
  const Result result = run_on(plan({"-o", file}), tiles_take(apart, [](const Case& c) {
                                 if (c.tile.bc == 48) std::raise(SIGINT);
                               }));
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(read_rows(file).rows.size(), 4u);
  EXPECT_EQ(printed(result.out, "tile").at("best"), "64x32");
}

TEST(TuneCommand, UsageErrors) {
  const auto refusal = [](const Args& args) { return run_on(args, tiles_take({})); };
  EXPECT_THAT(refusal({"tune", "-N", "512"}).err, HasSubstr("give --variant NAME"));
  EXPECT_THAT(refusal(plan({"--append"})).err, HasSubstr("--append needs a file"));
  EXPECT_THAT(refusal(plan({"--knob", "turbo=1"})).err, HasSubstr("no variant of this plan has it"));
  EXPECT_EQ(refusal(plan({"--knob", "turbo=1"})).code, 2);
}

TEST(TuneCommand, TheSimulatorsAnswerIsSaidToBeAModels) {
  const TemporaryFolder folder;
  const std::string file = folder / "tune.csv";
  Args args = plan({"--backend", "sim", "--knob", "stages=1,2", "-o", file});
  std::ranges::replace(args, "csv", "table");
  const Result result = run_on(args, open_backend);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the simulator's model of h200, no measurement"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("best"), HasSubstr("stages"), Not(HasSubstr("noise"))));
  std::set<std::string> keys, runs;
  for (const Row& row : read_rows(file).rows) {
    runs.insert(row.provenance.run);
    EXPECT_TRUE(keys.insert(row.identity.tile + " " + row.identity.knobs).second);
  }
  EXPECT_EQ(runs.size(), 1u);
  EXPECT_EQ(keys.size(), 9u);
}

TEST(TuneCommand, MarkdownAndJson) {
  Args args = plan();
  std::ranges::replace(args, "csv", "markdown");
  EXPECT_THAT(run_on(args, tiles_take(apart)).out, HasSubstr("| best | 64x32 |"));
  std::ranges::replace(args, "markdown", "json");
  const auto json = nlohmann::json::parse(run_on(args, tiles_take(apart)).out);
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["place"], "best");
  EXPECT_EQ(json[0]["br"], 64);
  EXPECT_EQ(json[1]["slower_pct"], 1.0);
}

TEST(TuneCommand, TellsWhatTheBackendNotesWhileItMeasures) {
  const BackendOpener open = [](const DeviceChoice& choice, const MeasureOptions& options) {
    return opener([](FakeBackend& backend) {
      backend.on_prepare = [&backend](const Case&) { backend.info_.notices = {"the driver said something"}; };
    })(choice, options);
  };
  const Args args = {"tune", "--variant", "flash2", "-N", "512", "-d", "64", "--no-compile", "--br", "64"};
  EXPECT_THAT(run_on(args, open).err, HasSubstr("the driver said something\n"));
}

TEST(TuneCommand, NothingIsLeftOfATuningThatNeverBegan) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "t.csv.meta.json");  // so that it cannot be written
  const Args args = {"tune", "--variant",    "flash2", "-N", "512", "-d",
                     "64",   "--no-compile", "--br",   "64", "-o",  folder / "t.csv"};
  EXPECT_EQ(run_on(args, opener()).code, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "t.csv"));
}

}  // namespace
}  // namespace attnprof
