// Rows of attnprof compile, built by nvcc, and under the gate.
#include <fmt/format.h>

#include <algorithm>

#include "base/csv.hpp"
#include "cli/run_fixture.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "plugin/own_variants.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CompileCommandTest : public NvccTest {
 protected:
  ~CompileCommandTest() override { load_own_variants({}, PluginCode::elsewhere); }

  Result compiled(Args more, const std::string& name = "") const {
    Args args = {
        "compile",  "--kernels", ATTNPROF_SOURCE_DIR "/kernels", "--cache-dir", ATTNPROF_TEST_KERNEL_CACHE,
        "--format", "csv"};
    args.insert(args.end(), more.begin(), more.end());
    if (!name.empty()) args.insert(args.end(), {"-o", folder_ / name});
    return run(args);
  }
  // The cells of one column.
  static std::vector<std::string> column(const std::string& text, const std::string& title) {
    const CsvText csv = parse_csv(text, "out");
    const auto& header = csv.records.front().fields;
    const auto at = static_cast<size_t>(std::ranges::find(header, title) - header.begin());
    std::vector<std::string> cells;
    for (size_t i = 1; i < csv.records.size(); ++i) cells.push_back(csv.records[i].fields.at(at));
    return cells;
  }
  TemporaryFolder folder_;
};

TEST_F(CompileCommandTest, AKernelIsOneRowWhateverLengthsAreSwept) {
  const Args plan = {"--variant", "flash2", "--arch", "sm_90a", "-d", "64", "-N"};
  const auto with = [&](const std::string& lengths) {
    Args args = plan;
    args.push_back(lengths);
    return args;
  };
  const Result several = compiled(with("1k,2k,4k"), "several.csv"), one = compiled(with("4k"), "one.csv");
  ASSERT_EQ(several.code, 0) << several.err;
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(column(several.out, "entry").size(), 1u);
  EXPECT_EQ(column(several.out, "code_hash"), column(one.out, "code_hash"));
  EXPECT_EQ(column(several.out, "tile"), std::vector<std::string>{"auto"});
  EXPECT_THAT(column(several.out, "macros").front(), HasSubstr("STAGES="));
  const Result same = run({"gate", folder_ / "several.csv", folder_ / "one.csv"});
  EXPECT_EQ(same.code, 0) << same.out;
  EXPECT_THAT(same.out, HasSubstr("1 of 1 row the same; 5 values compared"));
}

TEST_F(CompileCommandTest, ABaselineOfAnotherCompilerIsNotComparable) {
  const Args plan = {"--variant", "naive", "--arch", "sm_90a", "-d", "64", "-N", "256"};
  ASSERT_EQ(compiled(plan, "base.csv").code, 0);
  ASSERT_EQ(compiled(plan, "new.csv").code, 0);
  EXPECT_EQ(run({"gate", folder_ / "base.csv", folder_ / "new.csv"}).code, 0);
  const std::string version = find_toolchain().version,
                    env_id = column(text_of(folder_ / "base.csv"), "env_id").front();
  const auto everywhere = [&](const std::string& file, const std::string& from, const std::string& to) {
    std::string text = text_of(file);
    ASSERT_NE(text.find(from), std::string::npos) << file;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    write_text(file, text);
  };
  everywhere(folder_ / "base.csv", env_id, "another");
  everywhere(folder_ / "base.csv.meta.json", "\"" + version + "\"", "\"12.8.93\"");
  const Result refused = run({"gate", folder_ / "base.csv", folder_ / "new.csv"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("nvcc (12.8.93 in the baseline, " + version + " now)"),
                                 HasSubstr("--allow-different nvcc")));
  EXPECT_EQ(run({"gate", folder_ / "base.csv", folder_ / "new.csv", "--allow-different", "nvcc"}).code, 0);
}

TEST_F(CompileCommandTest, KernelsOfOnesOwnCompileForArchitecturesOfNoKnownDevice) {
  const Result result =
      compiled({"--variant-file", ATTNPROF_SOURCE_DIR "/kernels/example/example.json", "--arch",
                "sm_86,sm_120", "-d", "32", "-N", "512", "--br", "32", "--bc", "32"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(column(result.out, "arch"), (std::vector<std::string>{"sm_86", "sm_120"}));
  for (const std::string& ctas : column(result.out, "ctas_per_sm")) EXPECT_GT(std::stoi(ctas), 0);
}

TEST(CompileArch, WhatIsNoArchitectureIsASentence) {
  for (const char* arch : {"sm_12", "compute_90", "sm_90x", "hopper"}) {
    const Result result = run({"compile", "--arch", arch});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr(fmt::format("--arch '{}' is none of sm_70, sm_72", arch)));
  }
}

}  // namespace
}  // namespace attnprof
