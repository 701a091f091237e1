#include "base/unfinished.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/scratch_claim.hpp"
#include "testing/processes.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

// A group of two shells that sleep, and do as `trap` says on SIGTERM.
pid_t sleepers(const std::string& trap, const std::string& ready) {
  const std::string script = trap + "sh -c 'echo > " + ready + "; sleep 600' & wait; wait";
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
  _exit(127);
}

void wait_for_file(const std::string& path) {
  EXPECT_TRUE(wait_until([&] { return fs::exists(path); })) << path;
}

// A process that was killed may take a moment.
bool group_is_gone(pid_t group) {
  return wait_until([&] { return !is_group_running(group); });
}

TEST(Unfinished, AGroupIsReapedOnce) {
  const pid_t pid = start_group(
      [] {
        const pid_t child = fork();
        if (child == 0) _exit(7);
        return child;
      },
      Ending::at_once);
  std::optional<int> status;
  while (!(status = reap_group(pid))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(WEXITSTATUS(*status), 7);
  EXPECT_TRUE(reap_group(pid)) << "somebody has waited for it";
}

TEST(Unfinished, WhatSpawnThrowsIsThrownOnAndNothingIsLocked) {
  EXPECT_THROW(start_group([]() -> pid_t { throw std::runtime_error("no"); }, Ending::at_once),
               std::runtime_error);
  EXPECT_EQ(start_group([] { return pid_t{-1}; }, Ending::at_once), -1);
}

TEST(Unfinished, AWholeGroupIsKilled) {
  const TemporaryFolder folder;
  for (const auto& [trap, ending] :
       {std::pair{"", Ending::at_once}, {"", Ending::by_itself}, {"trap '' TERM; ", Ending::by_itself}}) {
    const std::string ready = folder / "ready";
    fs::remove(ready);
    const pid_t pid = start_group([&] { return sleepers(trap, ready); }, ending);
    wait_for_file(ready);
    const auto status = kill_group(pid, ending);
    ASSERT_TRUE(status);
    EXPECT_TRUE(WIFSIGNALED(*status));
    EXPECT_TRUE(group_is_gone(pid)) << trap;
  }
}

TEST(Unfinished, ALeaderThatEndsByItselfIsLetTo) {
  const TemporaryFolder folder;
  const std::string ready = folder / "ready";
  const pid_t pid =
      start_group([&] { return sleepers("trap 'echo > " + (folder / "tidied") + "; exit 3' TERM; ", ready); },
                  Ending::by_itself);
  wait_for_file(ready);
  const auto status = kill_group(pid, Ending::by_itself);
  ASSERT_TRUE(status && WIFEXITED(*status));
  EXPECT_EQ(WEXITSTATUS(*status), 3);
  EXPECT_TRUE(fs::exists(folder / "tidied"));
  EXPECT_TRUE(group_is_gone(pid)) << "what the leader had not ended";
}

TEST(Unfinished, EndAllLeavesNothing) {
  const TemporaryFolder folder;
  const std::string ready = folder / "ready", scratch = folder / "scratch";
  fs::create_directory(scratch);
  write_text(scratch + "/file", "");
  const pid_t child = fork();  // end_all_unfinished is for a program that ends
  if (child == 0) {
    const pid_t pid = start_group([&] { return sleepers("", ready); }, Ending::at_once);
    note_folder(scratch);
    wait_for_file(ready);
    write_text(folder / "pid", std::to_string(pid));
    end_all_unfinished();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(group_is_gone(std::stoi(text_of(folder / "pid"))));
  EXPECT_FALSE(fs::exists(scratch));
}

TEST(Undo, IsDoneOnceAtItsEndOrAtTheProgramsAfterAllGroupsAndBeforeFoldersGo) {
  const TemporaryFolder folder;
  int done = 0;
  {
    const Undo undo([&] { ++done; });
  }
  EXPECT_EQ(done, 1);
  const std::string scratch = folder / "scratch", note = folder / "note";
  const pid_t child = fork();
  if (child == 0) {
    fs::create_directory(scratch);
    note_folder(scratch);
    const Undo undo([&] { write_text(note, text_of(note) + (fs::exists(scratch) ? "before" : "after")); });
    end_all_unfinished();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(text_of(note), "before");
  EXPECT_FALSE(fs::exists(scratch));
}

TEST(ScratchClaim, AbandonedFoldersOfOursAreRemovedAndNoOthers) {
  const TemporaryFolder folder;
  const std::vector<std::string> kept = {"attnprof-abcdef", "attnprof-claimd", "other-abcdef",
                                         "attnprof-ab.def"};
  for (const std::string& name : kept) fs::create_directory(folder / name);
  for (const char* name : {"attnprof-killed", "attnprof.killed", "elsewhere"}) {
    fs::create_directory(folder / name);
    const ScratchClaim claim(folder / name);  // its owner ends here
    write_text((folder / name) + "/kernel.cubin", "half");
  }
  fs::create_symlink(folder / "elsewhere", folder / "attnprof-linked");
  for (const char* name : {"other-abcdef", "attnprof-ab.def"}) const ScratchClaim claim(folder / name);
  const ScratchClaim held(folder / "attnprof-claimd");
  remove_abandoned_scratch(folder / "");
  for (const std::string& name : kept) EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_TRUE(fs::exists(folder / "elsewhere/kernel.cubin")) << "links are not followed";
  EXPECT_FALSE(fs::exists(folder / "attnprof-killed"));
  EXPECT_FALSE(fs::exists(folder / "attnprof.killed"));
}

}  // namespace
}  // namespace attnprof
