#include "base/unfinished.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace attnprof {
namespace fs = std::filesystem;
namespace {

using std::chrono::milliseconds;

constexpr milliseconds pause(5);
constexpr milliseconds patience(2000);  // with a leader that ends by itself, and after SIGKILL

struct Unfinished {
  std::mutex mutex;
  std::map<pid_t, Ending> groups;
  std::set<fs::path> folders;
  std::vector<const std::function<void()>*> undos;
};

// Never destroyed: a signal may come while the program ends.
Unfinished& unfinished() {
  static auto* all = new Unfinished;
  return *all;
}

// Under the mutex: a leader that has been waited for is no longer in the list, so that a number that was
// given to another process is never signalled.
std::optional<int> reap(Unfinished& all, pid_t leader) {
  int status = 0;
  const pid_t ended = waitpid(leader, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  all.groups.erase(leader);
  return ended == leader ? status : 127 << 8;  // somebody else has waited for it
}

void signal_group(pid_t leader, Ending ending) {
  if (ending == Ending::by_itself)
    kill(leader, SIGTERM);
  else
    kill(-leader, SIGKILL);
}

// True when `done` was within `limit`.
template <class Done>
bool wait_until(milliseconds limit, Done done) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace

pid_t start_group(const std::function<pid_t()>& spawn, Ending ending) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  const pid_t leader = spawn();
  if (leader > 0) all.groups[leader] = ending;
  return leader;
}

std::optional<int> reap_group(pid_t leader) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  return reap(all, leader);
}

std::optional<int> kill_group(pid_t leader, Ending ending) {
  std::optional<int> status;
  const auto ended = [&] { return (status = reap_group(leader)).has_value(); };
  if (ended()) return status;
  signal_group(leader, ending);
  if (ending == Ending::by_itself && wait_until(patience, ended)) {
    kill(-leader, SIGKILL);  // what it had not ended
    return status;
  }
  signal_group(leader, Ending::at_once);
  wait_until(5 * patience, ended);  // a driver tears down its work first
  return status;
}

fs::path start_folder(const std::function<fs::path()>& make) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  return *all.folders.insert(make()).first;
}

void note_folder(const fs::path& folder) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  all.folders.insert(folder);
}

void forget_folder(const fs::path& folder) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  all.folders.erase(folder);
}

Undo::Undo(std::function<void()> undo) : undo_(std::move(undo)) {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  all.undos.push_back(&undo_);
}

// Under the mutex, so that the end by a signal does not do it a second time meanwhile.
Undo::~Undo() {
  Unfinished& all = unfinished();
  const std::lock_guard lock(all.mutex);
  std::erase(all.undos, &undo_);
  undo_();
}

void remove_folder(const fs::path& folder) {
  std::error_code error;
  for (int attempt = 0; attempt < 20; ++attempt) {
    fs::remove_all(folder, error);
    if (!fs::exists(folder, error)) return;
    std::this_thread::sleep_for(pause);
  }
}

void end_all_unfinished() {
  Unfinished& all = unfinished();
  all.mutex.lock();  // and never unlocked
  const std::map<pid_t, Ending> groups = all.groups;
  for (const auto& [leader, ending] : groups) signal_group(leader, ending);
  const auto all_ended = [&] {
    for (const auto& [leader, ending] : groups)
      if (all.groups.contains(leader)) reap(all, leader);
    return all.groups.empty();
  };
  wait_until(patience, all_ended);
  for (const auto& [leader, ending] : groups) kill(-leader, SIGKILL);
  wait_until(patience, all_ended);
  for (const auto* undo : all.undos) (*undo)();
  for (const fs::path& folder : all.folders) remove_folder(folder);
}

}  // namespace attnprof
