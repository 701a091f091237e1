#include "base/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

std::string refusal(const std::filesystem::path& parent) {
  try {
    ScratchDir scratch(parent);
    return "was made";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

TEST(ScratchDir, IsNotMadeWhereOthersCouldReplaceIt) {
  const TemporaryFolder folder;
  const std::filesystem::path parent(folder / ".");
  EXPECT_EQ(refusal(parent), "was made");
  std::filesystem::permissions(parent, std::filesystem::perms::all);
  EXPECT_THAT(refusal(parent), HasSubstr("is not used for temporary files: "));
  std::filesystem::permissions(parent, std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
  EXPECT_EQ(refusal(parent), "was made") << "as in /tmp";
}

TEST(ScratchDir, IsNotMadeInAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TemporaryFolder folder;
  ASSERT_EQ(chown((folder / ".").c_str(), 1234, 1234), 0);
  EXPECT_THAT(refusal(folder / "."), HasSubstr("user id 1234"));
}

}  // namespace
}  // namespace attnprof
