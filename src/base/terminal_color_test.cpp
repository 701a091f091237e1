#include "base/terminal_color.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/safe_text.hpp"

namespace attnprof {
namespace {

using Stream = std::unique_ptr<FILE, int (*)(FILE*)>;

// A terminal of its own, and the variables as the test leaves them.
class TerminalColor : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(openpty(&master_, &slave_, nullptr, nullptr, nullptr), 0);
    terminal = Stream(fdopen(slave_, "w"), std::fclose);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
  void TearDown() override {
    close(master_);
    setenv("TERM", term_.c_str(), 1);
    unsetenv("NO_COLOR");
  }
  Stream terminal{nullptr, std::fclose};

 private:
  int master_ = -1, slave_ = -1;
  const std::string term_ = std::getenv("TERM") ? std::getenv("TERM") : "";
};

TEST_F(TerminalColor, OnATerminalAlone) {
  EXPECT_TRUE(wants_color(terminal.get()));
  const Stream file(std::tmpfile(), std::fclose);
  EXPECT_FALSE(wants_color(file.get()));
}

TEST_F(TerminalColor, NotWhereItIsUnwanted) {
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(wants_color(terminal.get())) << "empty is as good as unset";
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(wants_color(terminal.get()));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(wants_color(terminal.get()));
  unsetenv("TERM");
  EXPECT_FALSE(wants_color(terminal.get()));
}

TEST_F(TerminalColor, WhatItSetsATerminalMayTake) {
  EXPECT_EQ(toned(Tone::bad, "worse", true), "\x1b[31mworse\x1b[0m");
  EXPECT_EQ(toned(Tone::good, "better", true), "\x1b[32mbetter\x1b[0m");
  EXPECT_EQ(toned(Tone::doubtful, "ambiguous", true), "\x1b[33mambiguous\x1b[0m");
  EXPECT_EQ(toned(Tone::strong, "head", true), "\x1b[1mhead\x1b[0m");
  EXPECT_EQ(toned(Tone::plain, "same", true), "same");
  EXPECT_EQ(toned(Tone::bad, "worse", false), "worse");
  const std::string all = toned(Tone::bad, "a", true) + toned(Tone::strong, "b", true);
  EXPECT_EQ(terminal_text(all), all);
}

}  // namespace
}  // namespace attnprof
