#include "base/distinct_files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Names = std::vector<std::string>;

class DistinctFiles : public testing::Test {
 protected:
  void SetUp() override {
    write_text(file, "rows");
    fs::create_symlink("rows.csv", folder / "link");
    fs::create_hard_link(file, folder / "hard");
  }
  static void refused(const Names& outputs, const Names& inputs, const std::string& why) {
    EXPECT_THAT([&] { check_distinct(outputs, inputs); }, ThrowsMessage<UsageError>(HasSubstr(why)))
        << outputs.front();
  }
  const TemporaryFolder folder;
  const std::string file = folder / "rows.csv";
};

TEST_F(DistinctFiles, AnInputIsNoOutputByAnyName) {
  const int fd = open(file.c_str(), O_RDWR);
  for (const std::string& output :
       {file, folder / "link", folder / "hard", folder / "./rows.csv", "/dev/fd/" + std::to_string(fd)})
    refused({output}, {"", folder / "absent", file}, "one of the files to read; give another name");
  refused({file}, {folder / "link"}, file + " is " + (folder / "link") + ", one of the files to read");
  close(fd);
}

TEST_F(DistinctFiles, TwoOutputsAreTwoFiles) {
  refused({file, "", folder / "link"}, {}, "are one file; give each output a name of its own");
  refused({file, file}, {}, "is named for two outputs");
  fs::create_symlink("absent", folder / "dangling");
  refused({folder / "absent", folder / "dangling"}, {}, "are one file");  // that is not there yet
}

TEST_F(DistinctFiles, WhatLosesNothingIsAllowed) {
  EXPECT_NO_THROW(
      check_distinct({"/dev/null", "/dev/null", file, folder / "other"}, {"/dev/null", "/dev/stdin"}));
  EXPECT_NO_THROW(check_distinct({"", "", folder / "no/folder", folder / "no/folder"}, {"", file}));
}

// As `>>rows.csv` makes it.
TEST_F(DistinctFiles, StandardOutputIsAnOutputToo) {
  const int before = dup(STDOUT_FILENO);
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND);
  dup2(fd, STDOUT_FILENO);
  close(fd);
  refused({""}, {file}, "standard output is " + file + ", one of the files to read");
  refused({file}, {}, "are one file");
  EXPECT_NO_THROW(check_distinct({"/dev/stdout"}, {})) << "by its own name it is meant";
  dup2(before, STDOUT_FILENO);
  close(before);
}

}  // namespace
}  // namespace attnprof
