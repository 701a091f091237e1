#include "base/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

extern char** environ;

namespace attnprof {
namespace {

// posix_spawn's two option objects, released together.
class SpawnOptions {
 public:
  SpawnOptions(const std::string& output_path, const std::string& folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions_, 1, 2);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Ended by a null pointer, as exec takes them.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Our variables but for those that `others` ("NAME=value") give.
std::vector<std::string> environment_with(const std::vector<std::string>& others) {
  std::vector<std::string> all = others;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view ours = *variable;
    const std::string_view name = ours.substr(0, ours.find('=') + 1);
    if (std::ranges::none_of(others, [&](const std::string& other) { return other.starts_with(name); }))
      all.emplace_back(ours);
  }
  return all;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

// Polls only while it may have to cancel; a plain wait otherwise.
int wait_for(pid_t child, const std::atomic<bool>* cancel) {
  int status = 0;
  if (!cancel) {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return exit_code_of(status);
  }
  bool killed = false;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return exit_code_of(status);
    if (ended < 0 && errno != EINTR) return 127;
    if (*cancel && !killed) {
      kill(-child, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

int run_program(const std::vector<std::string>& argv, const std::string& output_path,
                const std::atomic<bool>* cancel, const RunPlace& place) {
  std::vector<char*> arguments = pointers_to(argv);
  const std::vector<std::string> environment = environment_with(place.variables);
  std::vector<char*> variables = pointers_to(environment);
  const SpawnOptions options(output_path, place.folder);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], options.actions(), options.attributes(),
                                arguments.data(), variables.data());
  if (error != 0) {
    std::ofstream(output_path) << "error: " << argv[0] << " cannot be started: " << std::strerror(error)
                               << "\n";
    return 127;
  }
  return wait_for(child, cancel);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace attnprof
