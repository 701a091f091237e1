#include "base/trusted_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "testing/captured.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr uid_t another_user = 54321, another_group = 54322;

// In a folder whose owner and mode are sound, whatever the umask of who runs the tests.
class TrustTest : public testing::Test {
 protected:
  TrustTest() {
    unsetenv("ATTNPROF_TRUST");
    unsetenv("SUDO_UID");
    fs::create_directories(path("own/bin"));
    write_text(path("own/bin/nvcc"), "text");
    for (const char* each : {"", "own", "own/bin", "own/bin/nvcc"}) chmod(path(each).c_str(), 0755);
  }
  ~TrustTest() override { unsetenv("ATTNPROF_TRUST"), unsetenv("SUDO_UID"); }

  std::string path(const std::string& name) const { return fs::path(folder_ / name).lexically_normal(); }
  static std::string refusal(const std::string& file) { return examine_trust(file).refusal; }
  void give_away(const std::string& name) const { ASSERT_EQ(lchown(path(name).c_str(), another_user, 0), 0); }

  TemporaryFolder folder_;
};

class TrustOfOthersTest : public TrustTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  }
};

TEST_F(TrustTest, OnesOwnFileInAFolderOfOnesOwnIsTrusted) {
  const Trust trust = examine_trust(path("own/bin/nvcc"));
  EXPECT_EQ(trust.refusal, "");
  EXPECT_EQ(trust.warning, "");
  EXPECT_EQ(refusal("/usr/bin/env"), "");
}

TEST_F(TrustTest, WhatIsNotThereIsForOthersToSay) {
  EXPECT_EQ(refusal(path("own/absent")), "");
  EXPECT_EQ(refusal(path("own/bin/nvcc/absent")), "");
}

TEST_F(TrustTest, WhatAnybodyCanWriteToIsRefused) {
  for (const char* each : {"own/bin/nvcc", "own/bin", "own"}) {
    chmod(path(each).c_str(), 0777);
    EXPECT_THAT(refusal(path("own/bin/nvcc")),
                AllOf(HasSubstr("anybody can write to " + path(each) + ";"), HasSubstr("chmod o-w")));
    chmod(path(each).c_str(), 0755);
  }
  EXPECT_EQ(refusal(path("own/bin/nvcc")), "");
}

TEST_F(TrustTest, AStickyFolderMayLieOnTheWayButNotBeTheFilesOwn) {
  chmod(path("own").c_str(), 01777);
  EXPECT_EQ(refusal(path("own/bin/nvcc")), "");
  EXPECT_THAT(refusal(path("own")), HasSubstr("anybody can put files into " + path("own")));
  write_text(path("own/nvcc"), "");
  EXPECT_THAT(refusal(path("own/nvcc")), HasSubstr("anybody can put files into " + path("own")));
}

TEST_F(TrustTest, ALinkIsFollowedAndTheWayToItLookedAt) {
  fs::create_directories(path("open"));
  chmod(path("open").c_str(), 0777);
  fs::create_symlink(path("own/bin"), path("open/link"));
  EXPECT_THAT(refusal(path("open/link/nvcc")), HasSubstr("anybody can write to " + path("open")));
  fs::create_symlink(path("open/link/nvcc"),
                     path("own/through"));  // to where all is well, by a link that is not
  EXPECT_THAT(refusal(path("own/through")), HasSubstr("anybody can write to " + path("open")));
  fs::create_symlink("../open/nvcc", path("own/link"));
  write_text(path("open/nvcc"), "");
  EXPECT_THAT(refusal(path("own/link")), HasSubstr("anybody can write to " + path("open")));
}

TEST_F(TrustTest, LinksWithoutEndEnd) {
  fs::create_symlink("b", path("own/a"));
  fs::create_symlink("a", path("own/b"));
  EXPECT_EQ(refusal(path("own/a")), "");
}

TEST_F(TrustTest, ATrustedFolderIsNotLookedAt) {
  chmod(path("own").c_str(), 0777);
  setenv("ATTNPROF_TRUST", ("/nowhere:" + path("own")).c_str(), 1);
  EXPECT_EQ(refusal(path("own/bin/nvcc")), "");
  fs::create_directories(path("ownership"));
  chmod(path("ownership").c_str(), 0777);
  EXPECT_THAT(refusal(path("ownership")), HasSubstr("anybody"));
}

TEST_F(TrustOfOthersTest, WhatBelongsToAnotherUserIsRefused) {
  for (const char* each : {"own/bin/nvcc", "own/bin", "own"}) {
    give_away(each);
    EXPECT_THAT(refusal(path("own/bin/nvcc")),
                AllOf(HasSubstr(path(each) + " belongs to another user (user id 54321);"),
                      HasSubstr("ATTNPROF_TRUST=54321")));
    ASSERT_EQ(chown(path(each).c_str(), 0, 0), 0);
  }
  fs::create_symlink("bin", path("own/link"));
  give_away("own/link");
  EXPECT_THAT(refusal(path("own/link/nvcc")), HasSubstr(path("own/link") + " belongs to another user"));
}

TEST_F(TrustOfOthersTest, ATrustedUserMayOwnIt) {
  give_away("own/bin/nvcc");
  setenv("ATTNPROF_TRUST", "12:54321", 1);
  EXPECT_EQ(refusal(path("own/bin/nvcc")), "");
  for (const char* other : {"5432", "54321x", "x", ""}) {
    setenv("ATTNPROF_TRUST", other, 1);
    EXPECT_THAT(refusal(path("own/bin/nvcc")), HasSubstr("another user")) << other;
  }
}

TEST_F(TrustOfOthersTest, WhoCalledSudoIsTrusted) {
  give_away("own/bin/nvcc");
  setenv("SUDO_UID", "54321", 1);
  EXPECT_EQ(refusal(path("own/bin/nvcc")), "");
}

TEST_F(TrustOfOthersTest, WhatAGroupCanWriteToIsAWarning) {
  ASSERT_EQ(chown(path("own/bin").c_str(), 0, another_group), 0);
  chmod(path("own/bin").c_str(), 0775);
  const Trust trust = examine_trust(path("own/bin/nvcc"));
  EXPECT_EQ(trust.refusal, "");
  EXPECT_THAT(trust.warning, HasSubstr(path("own/bin") + " can be written by the whole group 54322"));
  ASSERT_EQ(chown(path("own/bin").c_str(), 0, 0), 0);  // root's own group
  chmod(path("own/bin").c_str(), 0775);
  EXPECT_EQ(examine_trust(path("own/bin/nvcc")).warning, "");
}

// Calls `check` in a container of an ordinary user, who has one name there: all others are unknown. Nothing
// where the system makes none.
std::optional<bool> in_small_container(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER) != 0) _exit(2);
    std::ofstream map("/proc/self/uid_map");
    map << "0 0 1" << std::flush;
    _exit(!map ? 2 : check() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 2) return std::nullopt;
  return WEXITSTATUS(status) == 0;
}

TEST_F(TrustOfOthersTest, AUserWhomTheContainerDoesNotKnowIsAWarning) {
  give_away("own/bin/nvcc");
  const auto is_warned_of = in_small_container([&] {
    const Trust trust = examine_trust(path("own/bin/nvcc"));
    return trust.refusal.empty() && trust.warning.find("does not know") != std::string::npos;
  });
  if (!is_warned_of) GTEST_SKIP() << "this system makes no user namespace";
  EXPECT_TRUE(*is_warned_of);
}

TEST_F(TrustOfOthersTest, WarningsArePrintedOnce) {
  ASSERT_EQ(chown(path("own/bin").c_str(), 0, another_group), 0);
  chmod(path("own/bin").c_str(), 0775);
  print_trust_warnings();
  const std::string said = printed_by([&] {
                             require_trusted(path("own/bin/nvcc"), "the compiler");
                             require_trusted(path("own/bin/nvcc"), "the compiler");
                           }).err;
  EXPECT_THAT(said, HasSubstr("attnprof: warning: " + path("own/bin")));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST_F(TrustTest, ARefusalIsOneSentence) {
  chmod(path("own/bin/nvcc").c_str(), 0777);
  try {
    require_trusted(path("own/bin/nvcc"), "the compiler");
    FAIL() << "was taken";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("the compiler " + path("own/bin/nvcc") +
                                                  " is not used: anybody can write to "));
  }
}

}  // namespace
}  // namespace attnprof
