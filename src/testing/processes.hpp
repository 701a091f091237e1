// For tests: what still runs. A zombie, which only waits for its parent to ask for its exit code, does not.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "testing/temporary_file.hpp"

namespace attnprof {

struct ProcessState {
  char state = 'X';
  pid_t parent = 0, group = 0;
  bool runs() const { return state != 'Z' && state != 'X'; }
};

inline ProcessState state_of(const std::string& pid) {
  const std::string text = text_of("/proc/" + pid + "/stat");
  const size_t name_end = text.rfind(") ");
  ProcessState process;
  if (name_end != std::string::npos)
    std::istringstream(text.substr(name_end + 2)) >> process.state >> process.parent >> process.group;
  return process;
}

// The command that runs one disabled test of this program, in a process of its own.
inline std::vector<std::string> own_disabled_test(const std::string& name) {
  return {std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_also_run_disabled_tests",
          "--gtest_filter=" + name};
}

inline bool is_running(pid_t pid) { return state_of(std::to_string(pid)).runs(); }

inline bool is_group_running(pid_t group) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const ProcessState process = state_of(entry.path().filename().string());
    if (process.group == group && process.runs()) return true;
  }
  return false;
}

// False when `done` was not within a minute.
template <class Done>
bool wait_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace attnprof
