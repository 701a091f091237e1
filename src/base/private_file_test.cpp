#include "base/private_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <system_error>

#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

class PrivateFileTest : public testing::Test {
 protected:
  fs::path folder() const { return fs::path(folder_ / "x").parent_path(); }
  TemporaryFolder folder_;
};

TEST_F(PrivateFileTest, ANameIsNeverTheSameTwice) {
  const PrivateFile one(folder(), "out"), two(folder(), "out");
  EXPECT_NE(one.path(), two.path());
  EXPECT_TRUE(one.path().filename().string().starts_with("out."));
  EXPECT_GE(one.path().filename().string().size(), 4u + 16u);
}

TEST_F(PrivateFileTest, IsTheUsersOwnAndClosedOnExec) {
  const PrivateFile file(folder());
  struct stat status {};
  ASSERT_EQ(fstat(file.fd(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_TRUE(fcntl(file.fd(), F_GETFD) & FD_CLOEXEC);
}

TEST_F(PrivateFileTest, IsRemovedUnlessItIsRenamed) {
  { const PrivateFile file(folder()); }
  EXPECT_TRUE(names_in(folder()).empty());
  {
    PrivateFile file(folder());
    file.write("text");
    file.rename_to("kept");
  }
  EXPECT_EQ(names_in(folder()), std::set<std::string>{"kept"});
  EXPECT_EQ(text_of(folder_ / "kept"), "text");
}

TEST_F(PrivateFileTest, ALinkInItsPlaceIsReplacedAndNotFollowed) {
  write_text(folder_ / "victim", "precious");
  fs::create_symlink(folder_ / "victim", folder_ / "name");
  write_private_file(folder(), "name", "text");
  EXPECT_EQ(text_of(folder_ / "victim"), "precious");
  EXPECT_FALSE(fs::is_symlink(folder_ / "name"));
  EXPECT_EQ(text_of(folder_ / "name"), "text");
}

TEST_F(PrivateFileTest, TheModeIsAsAskedForUnderTheUmask) {
  const mode_t before = umask(027);
  const PrivateFile file(folder(), "out", 0666);
  umask(before);
  EXPECT_EQ(static_cast<unsigned>(fs::status(file.path()).permissions()), 0640u);
}

TEST_F(PrivateFileTest, TheLongestNameOfAFileFits) {
  const std::string name(255, 'n');
  write_private_file(folder(), name, "text");
  EXPECT_EQ(text_of(folder_ / name), "text");
}

TEST_F(PrivateFileTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(PrivateFile(folder() / "absent"), std::system_error);
  EXPECT_THROW(make_private_folder(folder() / "absent"), std::system_error);
}

TEST_F(PrivateFileTest, AFolderIsNewEachTimeAndTheUsersOwn) {
  const fs::path one = make_private_folder(folder()), two = make_private_folder(folder());
  EXPECT_NE(one, two);
  EXPECT_EQ(fs::status(one).permissions(), fs::perms::owner_all);
}

}  // namespace
}  // namespace attnprof
