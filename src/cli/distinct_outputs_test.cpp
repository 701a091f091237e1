// What a command reads is never written over, whichever command it is and by whatever name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/run.hpp"
#include "plugin/own_variants.hpp"
#include "test_paths.hpp"
#include "testing/captured.hpp"
#include "testing/fake_backend.hpp"
#include "testing/gate_files.hpp"
#include "testing/roofline_rows.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using Args = std::vector<std::string>;

class DistinctOutputs : public testing::Test {
 protected:
  void SetUp() override {
    write_text(rows, csv_of({roofline_row()}));
    write_text(rows + ".meta.json", "{\"schema\": \"1\", \"runs\": {}}\n");
    write_text(other, text_of(rows));
    write_text(config, "[sweep]\nvariant = \"naive\"\nseqlen = \"512\"\n");
    fs::create_symlink(rows, folder / "link.csv");
    fs::create_hard_link(rows + ".meta.json", folder / "hard.json");
  }
  void TearDown() override { load_own_variants({}, PluginCode::elsewhere); }  // what a command has loaded

  int run(const Args& args) {
    int code = 0;
    err = printed_by([&] { code = run_command_line(args, opener()); }).err;
    return code;
  }

  // Everything that a command may read here, by every name.
  std::vector<std::string> inputs() const {
    return {rows, folder / "link.csv", rows + ".meta.json", folder / "hard.json"};
  }
  void refused(Args args, const std::string& output, const std::string& why = "one of the files to read") {
    const std::string before = text_of(output);
    args.push_back(output);
    EXPECT_EQ(run(args), 2) << args.front() << " " << output;
    EXPECT_THAT(err, HasSubstr(why)) << args.front() << " " << output;
    EXPECT_TRUE(text_of(output) == before) << args.front();
  }

  const TemporaryFolder folder;
  const std::string rows = folder / "rows.csv", other = folder / "other.csv", config = folder / "sweep.toml";
  std::string err;
};

TEST_F(DistinctOutputs, OfResults) {
  for (const std::string& output : inputs()) {
    refused({"roofline", rows, "--overwrite", "-o"}, output);
    refused({"explain", rows, "--overwrite", "-o"}, output);
    for (const char* option : {"--json", "--junit", "--markdown"}) {
      refused({"gate", rows, other, option}, output);
      refused({"gate", other, rows, option}, output);
    }
  }
}

TEST_F(DistinctOutputs, ABaselineIsNotSweptOver) {
  for (const std::string& output : inputs()) {
    const Args sweep = {"sweep", "--variant", "naive", "-N", "512", "--gate", rows};
    for (const char* existing : {"--overwrite", "--append", "--resume"}) {
      Args args = sweep;
      args.insert(args.end(), {existing, "-o"});
      refused(args, output);
    }
    Args args = sweep;
    args.emplace_back("--markdown");
    refused(args, output);
  }
}

TEST_F(DistinctOutputs, ABaselineIsNotRenewedByItself) {
  for (const std::string& current : {rows, folder / "link.csv"})
    EXPECT_EQ(run({"baseline", "update", rows, current}), 2) << err;
  EXPECT_THAT(err, HasSubstr("one of the files to read"));
}

TEST_F(DistinctOutputs, FilesOfOptionsAndVariantsAreInputs) {
  ASSERT_EQ(run({"new-variant", "mine", "-o", folder / "mine"}), 0) << err;
  refused({"sweep", "--config", config, "--overwrite", "-o"}, config);
  for (const Args& command : {Args{"sweep"}, {"tune"}, {"compile", "--arch", "sm_90a"}})
    for (const char* file : {"mine.json", "mine.cu"}) {
      Args args = command;
      args.insert(args.end(),
                  {"--variant-file", folder / "mine/mine.json", "-N", "512", "--overwrite", "-o"});
      refused(args, (folder / "mine/") + file);
    }
}

TEST_F(DistinctOutputs, KernelSourcesAreInputs) {
  fs::copy(ATTNPROF_SOURCE_DIR "/kernels", folder / "kernels", fs::copy_options::recursive);
  refused({"compile", "--arch", "sm_90a", "--variant", "naive", "--kernels", folder / "kernels",
           "--overwrite", "-o"},
          folder / "kernels/naive.cu");
}

#if ATTNPROF_WITH_GPU
TEST_F(DistinctOutputs, ATracedProgramAndItsFilesAreInputs) {
  write_text(folder / "train.py", "pass\n");
  const std::string before = text_of(folder / "train.py");
  EXPECT_EQ(run({"trace", "--overwrite", "-o", folder / "train.py", "--", "python3", folder / "train.py"}),
            2);
  EXPECT_THAT(err, HasSubstr("one of the files to read"));
  EXPECT_EQ(text_of(folder / "train.py"), before);
}
#endif

TEST_F(DistinctOutputs, TwoOutputsOfOneCommandAreTwoFiles) {
  write_text(folder / "report", "");
  refused({"gate", rows, other, "--json", folder / "report", "--junit"}, folder / "report", "two outputs");
  EXPECT_EQ(run({"sweep", "--variant", "naive", "-N", "512", "--gate", rows, "-o", folder / "x", "--json",
                 folder / "x.meta.json"}),
            2);
  EXPECT_THAT(err, HasSubstr("two outputs"));
}

TEST_F(DistinctOutputs, ALinkIsFollowedAndStaysByEveryCommand) {
  for (const Args& command : {Args{"roofline", rows, "--overwrite", "-o"},
                              {"explain", rows, "--overwrite", "-o"},
                              {"gate", rows, other, "--json"},
                              {"gate", rows, other, "--junit"},
                              {"gate", rows, other, "--markdown"},
                              {"sweep", "--variant", "naive", "-N", "512", "--overwrite", "-o"}}) {
    write_text(folder / "target", "old");
    fs::permissions(folder / "target", fs::perms{0640});
    fs::remove(folder / "output");
    fs::create_symlink("target", folder / "output");
    Args args = command;
    args.push_back(folder / "output");
    run(args);
    EXPECT_TRUE(fs::is_symlink(folder / "output")) << command.front();
    EXPECT_NE(text_of(folder / "target"), "old") << command.front() << ": " << err;
    EXPECT_EQ(fs::status(folder / "target").permissions(), fs::perms{0640}) << command.front();
  }
}

}  // namespace
}  // namespace attnprof
