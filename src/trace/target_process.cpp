#include "trace/target_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace attnprof {
namespace {

std::atomic<pid_t> target = 0;
static_assert(std::atomic<pid_t>::is_always_lock_free, "a signal handler reads it");

// A terminal sends its signals to the target too, which is in our process group: they come from the kernel.
void send_on(int number, siginfo_t* info, void*) {
  const int before = errno;
  if (info->si_code <= 0 && target > 0) kill(target, number);
  errno = before;
}

constexpr std::array forwarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};

// From construction the signals are held back; from release they are sent on; afterwards all is as before.
class Forwarding {
 public:
  Forwarding() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : forwarded) sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &mask_);
    struct sigaction action {};
    action.sa_sigaction = send_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (size_t i = 0; i < forwarded.size(); ++i) {
      sigaction(forwarded[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(forwarded[i], &action, nullptr);  // as with nohup
    }
  }
  ~Forwarding() {
    for (size_t i = 0; i < forwarded.size(); ++i) sigaction(forwarded[i], &before_[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    target = 0;
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  const sigset_t& mask() const { return mask_; }
  void release(pid_t pid) const {
    target = pid;
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  sigset_t mask_{};
  std::array<struct sigaction, forwarded.size()> before_{};
};

// Its signals are what ours were: also SIGPIPE and SIGXFSZ, which we ignore.
pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
            const sigset_t& mask) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int ignored : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, ignored);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, command.front().c_str(), nullptr, &attributes,
                                 exec_pointers(command).data(), exec_pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw UsageError(fmt::format("cannot start {}: {}; give a program and its arguments after --",
                                 command.front(), std::strerror(error)));
  return pid;
}

}  // namespace

int run_target(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables) {
  const Forwarding forwarding;
  const pid_t pid = start(command, environment_with(variables), forwarding.mask());
  forwarding.release(pid);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace attnprof
