// An output that cannot be written is exit code 3 and one sentence, whichever command was to write it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/run_fixture.hpp"
#include "test_paths.hpp"
#include "testing/gate_files.hpp"
#include "testing/roofline_rows.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class UnwritableOutput : public testing::Test {
 protected:
  // Everything in one folder, which another user can read too.
  void SetUp() override {
    write_text(rows, csv_of({roofline_row()}));
    std::filesystem::copy(ATTNPROF_SOURCE_DIR "/kernels", folder / "kernels",
                          std::filesystem::copy_options::recursive);
  }

  // Every command that writes, but for its output.
  std::vector<Args> commands() const {
    std::vector<Args> all = {
        {"sweep", "--variant", "naive", "-N", "512", "-o"},
        {"tune", "--variant", "flash2", "-N", "512", "--no-compile", "-o"},
        {"compile", "--arch", "sm_90a", "--variant", "naive", "-o"},
        {"new-variant", "mine", "--kernels", folder / "kernels", "-o"},
        {"roofline", rows, "-o"},
        {"explain", rows, "-o"},
        {"gate", rows, rows, "--json"},
        {"gate", rows, rows, "--junit"},
        {"gate", rows, rows, "--markdown"},
    };
#if ATTNPROF_WITH_GPU
    all.push_back({"ceilings", "-o"});
    all.push_back({"doctor", "--self-test", "-o"});
    all.push_back({"trace", "-o"});
#endif
    return all;
  }

  static Result run_to(Args args, const std::string& output) {
    const bool traces = args.front() == "trace";
    args.push_back(output);
    if (traces) args.insert(args.end(), {"--", "true"});
    return run(args);
  }
  void every_command_refuses(const std::string& output) const { every_command_refuses(commands(), output); }
  static void every_command_refuses(const std::vector<Args>& all, const std::string& output) {
    for (const Args& args : all) {
      const Result result = run_to(args, output);
      EXPECT_EQ(result.code, 3) << args.front() << ": " << result.err;
      EXPECT_THAT(result.err, AllOf(HasSubstr("attnprof: "), HasSubstr(output), HasSubstr("; give ")))
          << args.front();
    }
  }

  const TemporaryFolder folder;
  const std::string rows = folder / "rows.csv";
};

TEST_F(UnwritableOutput, InAFileInsteadOfAFolder) { every_command_refuses(rows + "/out.csv"); }

// Of those that write without a GPU or a compiler.
TEST_F(UnwritableOutput, OnAFullDisk) {
  for (const Args& args : commands()) {
    const std::string& name = args.front();
    if (name == "ceilings" || name == "doctor" || name == "trace" || name == "compile") continue;
    every_command_refuses({args}, "/dev/full");
  }
}

// Root may write anywhere, so it is somebody else meanwhile.
TEST_F(UnwritableOutput, WithoutPermission) {
  constexpr uid_t nobody = 65534;
  const uid_t before = geteuid();
  const std::string closed = folder / "closed";
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(closed, std::filesystem::perms{0555});
  ASSERT_EQ(seteuid(before == 0 ? nobody : before), 0);
  every_command_refuses(closed + "/out.csv");
  ASSERT_EQ(seteuid(before), 0);
}

TEST_F(UnwritableOutput, InAMissingFolder) {
  for (const Args& args : commands()) {
    if (args.front() == "new-variant") continue;  // makes it
    const Result result = run_to(args, folder / "no/out.csv");
    EXPECT_EQ(result.code, 3) << args.front() << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("no/out.csv cannot be written: No such file or directory; give"));
  }
}

TEST_F(UnwritableOutput, OneThatExistsIsWrongUsage) {
  for (const Args& args : commands()) {
    const std::string& name = args.front();
    if (name == "gate" || name == "doctor" || name == "new-variant") continue;  // write over, or a folder
    const std::string before = text_of(rows);
    const Result result = run_to(args, rows);
    EXPECT_EQ(result.code, 2) << name << ": " << result.err;
    EXPECT_EQ(text_of(rows), before) << name;
  }
}

}  // namespace
}  // namespace attnprof
