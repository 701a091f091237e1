// The scripts for bash and zsh, asked as the shells ask them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/run_program.hpp"
#include "cli/command_tree.hpp"
#include "cli/completion_words.hpp"
#include "cli/run_fixture.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::string script(const char* shell) {
  const Result result = run({"completion", shell});
  EXPECT_EQ(result.code, 0) << result.err;
  return result.out;
}

class BashCompletion : public testing::Test {
 protected:
  void SetUp() override { write_text(folder / "completion", script("bash")); }

  // What bash offers for the last of the words, which is begun.
  std::vector<std::string> offered(std::vector<std::string> words) {
    std::string text = "source completion; COMP_WORDS=(attnprof";
    for (const std::string& word : words) text += fmt::format(" '{}'", word);
    text += fmt::format("); COMP_CWORD={}; _attnprof; printf '%s\\n' \"${{COMPREPLY[@]}}\"", words.size());
    EXPECT_EQ(run_program({"/bin/bash", "-c", text}, folder / "offered", nullptr,
                          {.folder = folder / "", .variables = {}}),
              0)
        << text_of(folder / "offered");
    std::vector<std::string> lines = lines_of(text_of(folder / "offered"));
    std::erase(lines, "");
    return lines;
  }

  const TemporaryFolder folder;
};

TEST_F(BashCompletion, OffersCommandsOptionsAndTheirValues) {
  EXPECT_THAT(offered({"sw"}), ElementsAre("sweep"));
  EXPECT_THAT(offered({""}), AllOf(Contains("gate"), Contains("help"), Not(Contains("worker"))));
  EXPECT_THAT(offered({"sweep", "--out"}), ElementsAre("--output"));
  EXPECT_THAT(offered({"--quiet", "sweep", "--dry"}), ElementsAre("--dry-run"));
  EXPECT_THAT(offered({"sweep", "--backend", ""}), ElementsAre("auto", "gpu", "sim"));
  EXPECT_THAT(offered({"sweep", "--target", "h2"}), ElementsAre("h200"));
  EXPECT_THAT(offered({"sweep", "--target", "=", "h2"}), ElementsAre("h200")) << "as bash splits --target=h2";
  EXPECT_THAT(offered({"sweep", "--target", "="}), Contains("h200"));
  EXPECT_THAT(offered({"sweep", "--variant", "naive,fla"}),
              ElementsAre("naive,flash1", "naive,flash2", "naive,flash3"));
  EXPECT_THAT(offered({"sweep", "--mask", "c"}), ElementsAre("causal"));
  EXPECT_THAT(offered({"sweep", "--columns", "hbm_b"}), ElementsAre("hbm_bytes"));
  EXPECT_THAT(offered({"baseline", ""}), ElementsAre("update"));
  EXPECT_THAT(offered({"baseline", "update", "--accept"}), ElementsAre("--accept-regressions"));
  EXPECT_THAT(offered({"help", "tu"}), ElementsAre("tune"));
  EXPECT_THAT(offered({"completion", "z"}), ElementsAre("zsh"));
  EXPECT_THAT(offered({"compile", "--arch", "sm_8"}), ElementsAre("sm_80", "sm_86", "sm_87", "sm_89"));
  EXPECT_THAT(offered({"compile", "--arch", "sm_80,sm_9"}), ElementsAre("sm_80,sm_90", "sm_80,sm_90a"));
  EXPECT_THAT(offered({"sweep", "-N", "5"}), testing::IsEmpty()) << "any number";
}

TEST_F(BashCompletion, OffersFilesAndFolders) {
  write_text(folder / "rows one.csv", "");
  std::filesystem::create_directory(folder / "rows.d");
  EXPECT_THAT(offered({"explain", "rows"}), testing::UnorderedElementsAre("rows one.csv", "rows.d"));
  EXPECT_THAT(offered({"sweep", "-o", "rows"}), testing::UnorderedElementsAre("rows one.csv", "rows.d"));
  EXPECT_THAT(offered({"sweep", "--kernels", "rows"}), ElementsAre("rows.d"));
}

TEST_F(BashCompletion, LeavesATracedProgramAlone) {
  EXPECT_THAT(offered({"trace", "--li"}), ElementsAre("--limit"));
  EXPECT_THAT(offered({"trace", "-o", "x", "--", "ls", "--li"}), testing::IsEmpty());
}

// Nothing is listed by hand: every option of every command is offered.
TEST_F(BashCompletion, KnowsEveryOption) {
  CommandTree tree;
  for (const CLI::App* app : visible_commands(tree.root())) {
    std::vector<std::string> names;
    for (const CLI::Option* option : named_options(*app))
      for (const std::string& name : names_of(*option)) names.push_back(name);
    EXPECT_THAT(offered({app->get_name(), "-"}), testing::UnorderedElementsAreArray(names))
        << app->get_name();
  }
}

// Each function a command, each option of it a specification in quotes with as many brackets and colons as
// _arguments reads.
TEST(ZshCompletion, IsWellFormed) {
  const std::string text = script("zsh");
  EXPECT_THAT(text, testing::StartsWith("#compdef attnprof\n"));
  CommandTree tree;
  for (const CLI::App* app : visible_commands(tree.root())) {
    const size_t begin = text.find(fmt::format("\n_attnprof_{}() {{\n", app->get_name()));
    ASSERT_NE(begin, std::string::npos) << app->get_name();
    const std::string function = text.substr(begin, text.find("\n}\n", begin) - begin);
    EXPECT_THAT(text,
                HasSubstr(fmt::format("      {}) _attnprof_{} ;;\n", app->get_name(), app->get_name())));
    for (const CLI::Option* option : named_options(*app))
      for (const std::string& name : names_of(*option))
        EXPECT_THAT(function, testing::ContainsRegex(fmt::format("    '\\*{}[=+]?\\[", name)));
  }
  EXPECT_THAT(text,
              AllOf(HasSubstr("]:auto|gpu|sim:(auto gpu sim)'"), HasSubstr("]:FILE:_files'"),
                    HasSubstr("]:DIR:_files -/'"), HasSubstr(":LIST:_values -s , LIST naive standard")));
}

TEST(ZshCompletion, IsReadByZsh) {
  const std::string shell = std::getenv("ATTNPROF_ZSH") ? std::getenv("ATTNPROF_ZSH") : "/usr/bin/zsh";
  if (!std::filesystem::exists(shell)) GTEST_SKIP() << "no zsh is here (" << shell << ")";
  const TemporaryFolder folder;
  write_text(folder / "_attnprof", script("zsh"));
  const std::string check = "source ./_attnprof 2>/dev/null; whence -w _attnprof _attnprof_sweep";
  run_program({shell, "-f", "-n", folder / "_attnprof"}, folder / "syntax");
  EXPECT_EQ(text_of(folder / "syntax"), "");
  run_program({shell, "-f", "-c", "compdef() {}; " + check}, folder / "functions", nullptr,
              {.folder = folder / "", .variables = {}});
  EXPECT_EQ(text_of(folder / "functions"), "_attnprof: function\n_attnprof_sweep: function\n");
}

TEST(Completion, OfNoOtherShell) {
  EXPECT_THAT(run({"completion", "fish"}).err, HasSubstr("'fish' is none of bash, zsh"));
}

}  // namespace
}  // namespace attnprof
