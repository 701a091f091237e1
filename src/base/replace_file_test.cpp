#include "base/replace_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/output_place.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ReplaceFile : public testing::Test {
 protected:
  static unsigned mode(const std::string& path) {
    return static_cast<unsigned>(fs::status(path).permissions());
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(fs::path(file).parent_path()), {}));
  }
  const TemporaryFolder folder;
  const std::string file = folder / "out.txt";
};

TEST_F(ReplaceFile, ANewOneHasTheModeOfTheUmask) {
  const mode_t before = umask(077);
  replace_file(file, "text");
  umask(before);
  EXPECT_EQ(text_of(file), "text");
  EXPECT_EQ(mode(file), 0600u);
  EXPECT_EQ(files(), 1u) << "no temporary stays";
}

TEST_F(ReplaceFile, KeepsModeAndOwnerAndAReaderKeepsTheOldOne) {
  write_text(file, "old");
  fs::permissions(file, fs::perms{0640});
  const uid_t owner = geteuid() == 0 ? 65534 : geteuid();  // who only root can give it to
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file.c_str(), owner, owner), 0);
  }
  std::ifstream reader(file);
  replace_file(file, "new");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(mode(file), 0640u);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, owner);
}

TEST_F(ReplaceFile, LinksAreFollowedAndStay) {
  fs::create_directory(folder / "deep");
  fs::create_symlink("deep/target", folder / "link");
  fs::create_symlink(folder / "link", folder / "twice");
  for (const char* text : {"new", "replaced"}) {  // it is not there at first
    replace_file(folder / "twice", text);
    EXPECT_EQ(text_of(folder / "deep/target"), text);
    EXPECT_TRUE(fs::is_symlink(folder / "link"));
    EXPECT_TRUE(fs::is_symlink(folder / "twice"));
  }
  fs::create_symlink("itself", folder / "itself");
  EXPECT_THAT([&] { replace_file(folder / "itself", "x"); },
              ThrowsMessage<EnvironmentError>(HasSubstr("Too many levels")));
}

TEST_F(ReplaceFile, APipeIsWrittenThrough) {
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = text_of(file); });
  replace_file(file, "through");
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(file));
}

TEST_F(ReplaceFile, AReaderThatHasEndedIsAnErrorAndNoSignal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  EXPECT_THAT([&] { replace_file("/dev/fd/" + std::to_string(ends[1]), "x"); },
              ThrowsMessage<EnvironmentError>(HasSubstr("Broken pipe")));
  close(ends[1]);
}

TEST_F(ReplaceFile, DevicesStayDevices) {
  EXPECT_THAT([] { replace_file("/dev/full", "x"); },
              ThrowsMessage<EnvironmentError>(HasSubstr("/dev/full cannot be written: No space left")));
  replace_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReplaceFile, ADescriptorIsWrittenWhereItStands) {
  const int fd = open(file.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(fd, "before ", 7), 7);
  fs::create_symlink("/dev/fd/" + std::to_string(fd), folder / "link");
  replace_file(folder / "link", "through");
  ASSERT_EQ(write(fd, " after", 6), 6);
  close(fd);
  EXPECT_EQ(text_of(file), "before through after");
}

TEST_F(ReplaceFile, WhatFailsLeavesTheOldOneWhole) {
  write_text(file, "old");
  EXPECT_THROW(replace_file(file, [](std::ostream&) { throw UsageError("no"); }), UsageError);
  EXPECT_EQ(text_of(file), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(ReplaceFile, SaysWhyItCannotBeWritten) {
  for (const std::string& path : {folder / "no/out.txt", file + "/out.txt", folder / "", std::string(".")}) {
    write_text(file, "old");
    EXPECT_THAT([&] { replace_file(path, "x"); },
                ThrowsMessage<EnvironmentError>(HasSubstr(path + " cannot be written: ")));
  }
  EXPECT_EQ(files(), 1u);
}

// Whatever the kernel is set to (fs.protected_symlinks).
TEST_F(ReplaceFile, ALinkOfSomebodyElsesInASharedFolderIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user's";
  fs::create_directory(folder / "shared");
  fs::permissions(folder / "shared", fs::perms{01777});
  write_text(folder / "victim", "precious");
  fs::create_symlink(folder / "victim", folder / "shared/out");
  ASSERT_EQ(lchown((folder / "shared/out").c_str(), 65534, 65534), 0);
  EXPECT_THAT([&] { replace_file(folder / "shared/out", "x"); },
              ThrowsMessage<EnvironmentError>(HasSubstr("Permission denied")));
  EXPECT_EQ(text_of(folder / "victim"), "precious");
}

TEST_F(ReplaceFile, MoreThanABufferArrives) {
  const std::string text(1'000'000, 'x');
  replace_file(file, [&](std::ostream& stream) {
    for (const char c : text) stream << c;
  });
  EXPECT_EQ(text_of(file), text);
}

}  // namespace
}  // namespace attnprof
