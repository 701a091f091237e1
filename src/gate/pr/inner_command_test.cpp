// The command of both sides: what it may be, and whose the paths in it are.
#include "gate/pr/inner_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "gate/pr/inside.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

class InnerCommandTest : public testing::Test {
 protected:
  InnerCommandTest() {
    repository_.top = fs::canonical(folder_ / "") / "r";
    fs::create_directories(repository_.top / "k/flash2");
    fs::create_directories(repository_.top / "k/deeper");
    repository_.folder = "k";
    for (const char* file : {"r/k/mine.json", "r/top.json", "r/k/a.cubin", "elsewhere.json"})
      write_text(folder_ / file, "");
    fs::create_directory_symlink(repository_.top, folder_ / "link");
  }
  std::string top(const std::string& path) const { return repository_.top / path; }
  Words words(const Words& given) const { return InnerCommand(given, repository_).words(); }
  std::string refusal(const Words& given) const {
    try {
      check_inner_command(given);
      InnerCommand(given, repository_).named(repository_, base_);
      return "accepted";
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
  const fs::path base_ = folder_ / "base";
  Repository repository_;
};

TEST_F(InnerCommandTest, PathsOfTheRepositoryAreRelativeAndOthersAbsolute) {
  EXPECT_THAT(words({"compile", "--variant-file", top("k/mine.json"), "--plugin=" + top("k/deeper/p.so"),
                     "--config", top("top.json"), "-d", "64"}),
              ElementsAre("compile", "--variant-file", "./mine.json", "--plugin=./deeper/p.so", "--config",
                          "../top.json", "-d", "64"));
  EXPECT_THAT(words({"compile", "--variant-file", folder_ / "link/k/mine.json"}),
              ElementsAre("compile", "--variant-file", "./mine.json"))
      << "by a link that leads into the repository";
  EXPECT_THAT(
      words({"sweep", "--target-file", "../../elsewhere.json", "--config", "../top.json"}),
      ElementsAre("sweep", "--target-file", (repository_.top.parent_path() / "elsewhere.json").string(),
                  "--config", "../top.json"));
  EXPECT_THAT(words({"sweep", "--target-file", "/nowhere/x.json", "-N", "1k,4k"}),
              ElementsAre("sweep", "--target-file", "/nowhere/x.json", "-N", "1k,4k"));
}

TEST_F(InnerCommandTest, OnlyWhatWritesRowsForTheGate) {
  EXPECT_THAT(refusal({"tune", "--variant-file", "mine.json"}),
              HasSubstr("gate-pr runs compile, sweep or resources, not 'tune'"));
  EXPECT_THAT(refusal({}), HasSubstr("needs a command"));
  EXPECT_EQ(refusal({"resources", "a.cubin"}), "accepted");
}

TEST_F(InnerCommandTest, MayNotHaveWhatIsGatePrsOwn) {
  for (const char* word : {"-o", "-oX.csv", "--output", "--output=x", "--gate", "--gate=b.csv", "--overwrite",
                           "--append", "--resume", "--dry-run", "--markdown", "--junit", "--json", "--help"})
    EXPECT_THAT(refusal({"sweep", "--variant-file", "mine.json", word}),
                HasSubstr("the command after -- may not have -"))
        << word;
}

TEST_F(InnerCommandTest, MustNameSomethingOfTheRepository) {
  for (const Words& given : {Words{"sweep", "--variant", "flash2"}, Words{"compile", "--arch", "sm_90a"},
                             Words{"sweep", "--target-file", "../../elsewhere.json"}})
    EXPECT_THAT(refusal(given), HasSubstr("names no file or folder of this repository"))
        << "a folder called flash2 is not the variant";
  EXPECT_EQ(refusal({"compile", "--kernels", "flash2"}), "accepted");
}

TEST_F(InnerCommandTest, OwnVariantsAndFilesMayBeLeftOut) {
  const InnerCommand sweep({"sweep", "--variant-file", "mine.json", "--config", "../top.json",
                            "--variant-file=mine.json", "-d", "64"},
                           repository_);
  std::vector<NamedFile> named = sweep.named(repository_, base_);
  ASSERT_EQ(named.size(), 3u);
  EXPECT_TRUE(named[0].may_be_new && named[2].may_be_new);
  EXPECT_FALSE(named[1].may_be_new) << "without its options it would be another command";
  EXPECT_THAT(sweep.without({named[0], named[2]}),
              ElementsAre("sweep", "--config", "../top.json", "-d", "64"));
  const InnerCommand resources({"resources", "a.cubin", "--block", "128"}, repository_);
  named = resources.named(repository_, base_);
  ASSERT_EQ(named.size(), 1u);
  EXPECT_TRUE(named[0].may_be_new);
  EXPECT_THAT(resources.without(named), ElementsAre("resources", "--block", "128"));
}

TEST_F(InnerCommandTest, InsideIsByWhateverName) {
  const fs::path r = repository_.top;
  EXPECT_EQ(path_inside(r, r), fs::path("."));
  EXPECT_EQ(path_inside(r, r / "k/../top.json"), fs::path("top.json"));
  EXPECT_EQ(path_inside(r, folder_ / "link/k/new.json"), fs::path("k/new.json")) << "that is not there yet";
  EXPECT_EQ(path_inside(r, r.string() + "2/x"), std::nullopt) << "a name that begins alike";
  EXPECT_EQ(path_inside(r, "/"), std::nullopt);
}

}  // namespace
}  // namespace attnprof
