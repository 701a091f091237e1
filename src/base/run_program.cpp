#include "base/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

#include "base/environment.hpp"
#include "base/spawn_place.hpp"
#include "base/standard_streams.hpp"
#include "base/unfinished.hpp"

namespace attnprof {
namespace {

// posix_spawn's two option objects, released together.
class SpawnOptions {
 public:
  // Where the C library has no action for it, the command is changed so that it runs in its folder.
  SpawnOptions(std::vector<std::string>& command, const std::string& output_path, const RunPlace& place) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    if (output_path.empty())
      posix_spawn_file_actions_adddup2(&actions_, 2, 1);
    else
      open_file(1, output_path);
    if (!place.errors.empty())
      open_file(2, place.errors);
    else if (!output_path.empty())
      posix_spawn_file_actions_adddup2(&actions_, 1, 2);
    start_in(actions_, command, place.folder);
    close_from(actions_, 3);
    posix_spawnattr_init(&attributes_);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD, SIGXFSZ}) sigaddset(&defaults, signal);
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
  void open_file(int fd, const std::string& path) {
    posix_spawn_file_actions_addopen(&actions_, fd, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Temporary files go beside the output, unless the caller says where.
Variables with_own_tmpdir(Variables variables, const std::string& output_path) {
  const bool named = std::ranges::find(variables, "TMPDIR", &Variables::value_type::first) != variables.end();
  if (!named && !output_path.empty())
    variables.emplace_back("TMPDIR", std::filesystem::path(output_path).parent_path().string());
  return variables;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

int wait_for(pid_t child, const std::atomic<bool>* cancel, Ending ending) {
  for (;;) {
    std::optional<int> status = reap_group(child);
    if (!status && cancel && *cancel) status = kill_group(child, ending);
    if (status) return exit_code_of(*status);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

int run_program(const std::vector<std::string>& argv, const std::string& output_path,
                const std::atomic<bool>* cancel, const RunPlace& place) {
  const std::vector<std::string> environment =
      environment_with(with_own_tmpdir(place.variables, output_path));
  std::vector<std::string> command = argv;
  const SpawnOptions options(command, output_path, place);
  const std::vector<char*> arguments = exec_pointers(command);
  int error = 0;
  const pid_t child = start_group(
      [&] {
        pid_t pid = -1;
        error = posix_spawn(&pid, arguments[0], options.actions(), options.attributes(), arguments.data(),
                            exec_pointers(environment).data());
        return error == 0 ? pid : -1;
      },
      place.ending);
  if (error != 0) {
    const std::string why = "error: " + argv[0] + " cannot be started: " + std::strerror(error);
    if (output_path.empty())
      warn(why);
    else
      std::ofstream(output_path) << why << "\n";
    return 127;
  }
  return wait_for(child, cancel, place.ending);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace attnprof
