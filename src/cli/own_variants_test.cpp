// Variants of one's own through the whole tool: new-variant, --variant-file, --plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_fixture.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "measure/worker.hpp"
#include "plugin/own_variants.hpp"
#include "plugin/plugin_host.hpp"
#include "row/row_csv.hpp"
#include "test_paths.hpp"
#include "testing/captured.hpp"
#include "testing/temporary_file.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class OwnVariantsTest : public testing::Test {
 protected:
  OwnVariantsTest() { plugin_host_settings() = {{ATTNPROF_BINARY, "plugin-host"}, 20}; }
  ~OwnVariantsTest() override { load_own_variants({}, PluginCode::elsewhere); }

  std::string make(const std::string& name = "mine") {
    const Result made = run({"new-variant", name, "-o", folder_ / "k", "--kernels", kernels});
    EXPECT_EQ(made.code, 0) << made.err;
    return folder_ / ("k/" + name + ".json");
  }
  static void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = text_of(file);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_text(file, text.replace(at, from.size(), to));
  }
  static std::vector<std::string> variants_in(const std::string& csv) {
    std::vector<std::string> names;
    for (const Row& row : read_rows(csv).rows) names.push_back(row.identity.variant);
    return names;
  }

  static constexpr const char* kernels = ATTNPROF_SOURCE_DIR "/kernels";
  TemporaryFolder folder_;
};

TEST_F(OwnVariantsTest, NewVariantWritesTwoFilesAndSaysWhatToType) {
  const Result made = run({"new-variant", "mine_2", "-o", folder_ / "a b/k", "--kernels", kernels});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out,
              AllOf(HasSubstr("attnprof sweep --variant-file '" + folder_ / "a b/k/mine_2.json' "),
                    HasSubstr("attnprof roofline mine_2.csv --plot"), HasSubstr("--gate mine_2.csv")));
  EXPECT_THAT(text_of(folder_ / "a b/k/mine_2.cu"),
              AllOf(HasSubstr("mine_2_forward"), Not(HasSubstr("example"))));
  EXPECT_THAT(text_of(folder_ / "a b/k/mine_2.json"),
              AllOf(HasSubstr("\"mine_2.cu\""), Not(HasSubstr("example"))));
}

TEST_F(OwnVariantsTest, NewVariantRefusesFilesThatAreThereAndBadNames) {
  const std::string file = make();
  write_text(file, "mine");
  const Result again = run({"new-variant", "mine", "-o", folder_ / "k", "--kernels", kernels});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("mine.json exists; give another name"));
  EXPECT_EQ(text_of(file), "mine");
  for (const char* name : {"", "Mine", "a-b", "../x", "a b", "1st", "naive"}) {
    const Result bad = run({"new-variant", name, "-o", folder_ / "k", "--kernels", kernels});
    EXPECT_EQ(bad.code, 2) << name;
    EXPECT_THAT(bad.err, HasSubstr("new-variant '" + std::string(name) + "'"));
  }
  write_text(folder_ / "file", "");
  EXPECT_EQ(run({"new-variant", "other", "-o", folder_ / "file", "--kernels", kernels}).code, 3);
}

TEST_F(OwnVariantsTest, ASweepWithoutVariantIsOfThemAlone) {
  const std::string a = make("a"), b = make("b"), csv = folder_ / "o.csv";
  const Result result =
      run({"sweep", "--variant-file", a, "--variant-file", b, "-N", "512", "-d", "64", "-o", csv});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(variants_in(csv), ElementsAre("a", "b"));
  const Row row = read_rows(csv).rows.front();
  EXPECT_EQ(row.status.disposition, "ok");
  EXPECT_EQ(row.resolved.br, 32);
  EXPECT_EQ(row.model.sm_bytes, std::nullopt) << "not modelled";
  EXPECT_EQ(row.model.hbm_bytes, std::nullopt);
  EXPECT_EQ(row.model.tensor_flops, std::nullopt);
  EXPECT_TRUE(row.model.useful_flops);
}

TEST_F(OwnVariantsTest, VariantChoosesAmongAll) {
  const std::string a = make("a"), csv = folder_ / "o.csv";
  EXPECT_EQ(
      run({"sweep", "--variant-file", a, "--variant", "naive,a", "-N", "512", "-d", "64", "-o", csv}).code,
      0);
  EXPECT_THAT(variants_in(csv), ElementsAre("naive", "a"));
  const Result gone = run({"sweep", "--variant", "a", "-N", "512", "-d", "64"});
  EXPECT_EQ(gone.code, 2);
  EXPECT_THAT(gone.err,
              AllOf(HasSubstr("--variant 'a' is none of naive, standard"), HasSubstr("--variant-file FILE")));
}

TEST_F(OwnVariantsTest, WhatTheFileDoesNotTakeIsSkipped) {
  const std::string a = make("a"), csv = folder_ / "o.csv";
  run({"sweep", "--variant-file", a, "-N", "512", "-d", "64,80", "--dtype", "fp16,fp32", "-o", csv});
  std::vector<std::string> reasons;
  for (const Row& row : read_rows(csv).rows) reasons.push_back(row.status.reason);
  EXPECT_THAT(reasons,
              ElementsAre("", "a takes head_dim multiple of 32 up to 256, not 80",
                          "a takes dtype fp16, bf16, not fp32", "a takes dtype fp16, bf16, not fp32"));
}

TEST_F(OwnVariantsTest, AChangedFileIsAnotherPlan) {
  const std::string a = make("a"), csv = folder_ / "o.csv";
  const std::vector<std::string> args = {"sweep", "--variant-file", a, "-N", "512,1k", "-d", "64", "-o", csv};
  std::vector<std::string> resume = args;
  resume.emplace_back("--resume");
  EXPECT_EQ(run(args).code, 0);
  EXPECT_EQ(run(resume).code, 0);
  replace(a, "\"threads\": \"32 * 8\"", "\"threads\": \"64 * 4\"");
  const Result refused = run(resume);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("its plan is another"));
}

TEST_F(OwnVariantsTest, TheSimulatorSkipsThem) {
  const std::string a = make("a"), csv = folder_ / "o.csv";
  int code = 0;
  printed_by([&] {
    code = run_command_line(
        {"sweep", "--variant-file", a, "-N", "512", "-d", "64", "--backend", "sim", "-o", csv});
  });
  EXPECT_EQ(code, 3);
  EXPECT_EQ(read_rows(csv).rows.at(0).status.reason,
            "a has no schedule that could be simulated; measure it with --backend gpu");
}

TEST_F(OwnVariantsTest, ListAndTheDryRunShowThem) {
  const std::string a = make("a");
  EXPECT_THAT(
      run({"list", "--variant-file", a}).out,
      AllOf(HasSubstr("\na\n"), HasSubstr("tile 32x32, 8192 bytes of shared memory"), HasSubstr("flash2")));
  EXPECT_THAT(run({"sweep", "--variant-file", a, "-N", "512", "-d", "64", "--dry-run"}).out,
              AllOf(HasSubstr("a 32x32 fp16"), HasSubstr("a_forward"), HasSubstr("WARPS=8")));
}

TEST_F(OwnVariantsTest, WhereTheSimulatorWouldRunThemThePlanSaysThatItCannot) {
  const std::string a = make("a");
  const auto plan = [&](const char* backend) {
    return run({"sweep", "--variant-file", a, "-N", "512", "-d", "64", "--dry-run", "--target", "h200",
                "--backend", backend})
        .out;
  };
  EXPECT_THAT(plan("sim"), AllOf(HasSubstr("a has no schedule that could be simulated"),
                                 HasSubstr("0 to run, 1 skipped")));
  EXPECT_THAT(plan("gpu"), HasSubstr("1 to run, 0 skipped"));
  const Printed printed = printed_by([&] {
    run_command_line(
        {"tune", "--variant-file", a, "--backend", "sim", "-N", "512", "-d", "64", "--no-compile"});
  });
  EXPECT_THAT(printed.out, HasSubstr("none is ok, the first since a has no schedule"));
  EXPECT_THAT(printed.err, testing::Not(HasSubstr("these latencies")));
}

TEST_F(OwnVariantsTest, AMistakeEndsInOneSentenceBeforeAnythingRuns) {
  const std::string a = make("a"), csv = folder_ / "o.csv";
  replace(a, "ceil(q_len / br)\", \"heads\"", "ceil(q_len / bq)\", \"heads\"");
  const Result result = run({"sweep", "--variant-file", a, "-N", "512", "-o", csv});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("attnprof: " + a +
                                    ", line 33: steps[0].grid[0]: 'ceil(q_len / bq)' is no rule: 'bq' is"));
  EXPECT_FALSE(std::filesystem::exists(csv));
  const Result twice = run({"list", "--variant-file", make("b"), "--variant-file", folder_ / "k/b.json"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("the name 'b' is taken by"));
}

TEST_F(OwnVariantsTest, TheOptionMayComeFromAConfigFile) {
  const std::string a = make("a");
  write_text(folder_ / "s.toml", "[sweep]\nvariant-file = [\"" + a + "\"]\nseqlen = \"512\"\n");
  const Result result = run({"sweep", "--config", folder_ / "s.toml", "--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("a 32x32 fp16"));
}

TEST_F(OwnVariantsTest, TuneTriesTheirTiles) {
  const std::string a = make("a"), csv = folder_ / "o.csv";
  replace(a, "\"supports\": {", "\"supports\": {\n    \"tiles\": [[32, 32], [32, 16], [8, 8]],");
  const Result result =
      run({"tune", "--variant-file", a, "-N", "512", "-d", "64", "--no-compile", "-o", csv});
  EXPECT_EQ(result.code, 0) << result.err;
  std::vector<int64_t> sides;
  for (const Row& row : read_rows(csv).rows) sides.push_back(row.resolved.bc.value());
  for (const int64_t side : {32, 16, 8}) EXPECT_THAT(sides, testing::Contains(side));
}

TEST_F(OwnVariantsTest, AWorkerLoadsTheSameFile) {
  const std::string a = make("a");
  load_own_variants({{a}, {}}, PluginCode::elsewhere);
  WorkerBackend worker({ATTNPROF_FAKE_WORKER}, {});
  Case c;
  c.variant = find_variant("a");
  c.problem.q_len = c.problem.kv_len = 512;
  c.tile = {32, 32};
  EXPECT_EQ(worker.prepare(c).kernel_hash, "abc");
  replace(a, "\"threads\": \"32 * 8\"", "\"threads\": \"64 * 4\"");
  EXPECT_THROW(WorkerBackend({ATTNPROF_FAKE_WORKER}, {}), UsageError);
}

class OwnVariantsNvcc : public NvccTest {};

TEST_F(OwnVariantsNvcc, TheExampleCompilesWithoutSpills) {
  const TemporaryFolder folder;
  const auto all = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"compile",
                                     "--kernels",
                                     ATTNPROF_SOURCE_DIR "/kernels",
                                     "--cache-dir",
                                     ATTNPROF_TEST_KERNEL_CACHE,
                                     "--variant-file",
                                     ATTNPROF_SOURCE_DIR "/kernels/example/example.json"};
    args.insert(args.end(), more.begin(), more.end());
    return run(args);
  };
  const Result result = all({"--arch", "sm_80,sm_90a", "-d", "32,256", "--dtype", "fp16,bf16", "--mask",
                             "causal", "-N", "512", "--format", "csv", "-o", folder / "o.csv"});
  EXPECT_EQ(result.code, 0) << result.err;
  const CsvText csv = parse_csv(result.out, "out");
  const auto& header = csv.records.front().fields;
  const auto spills = std::ranges::find(header, "spill_bytes") - header.begin();
  EXPECT_EQ(csv.records.size(), 9u);
  for (size_t i = 1; i < csv.records.size(); ++i)
    EXPECT_EQ(csv.records[i].fields.at(static_cast<size_t>(spills)), "0");
  load_own_variants({}, PluginCode::elsewhere);
}

}  // namespace
}  // namespace attnprof
