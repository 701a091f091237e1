// What must not outlive the program: process groups that it has started, folders for scratch, and changes
// elsewhere that it takes back. Whoever has one notes it here, so that a signal can end the program at any
// moment and leave nothing.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>

namespace attnprof {

enum class Ending {
  at_once,    // nothing of the group is asked
  by_itself,  // its leader ends what it has started itself; killed where that takes too long
};

// Notes the group whose leader `spawn` starts, with no moment between in which it could be left behind. What
// `spawn` throws is thrown on.
pid_t start_group(const std::function<pid_t()>& spawn, Ending ending);

// The leader's wait status once it has ended; it is then noted no longer.
std::optional<int> reap_group(pid_t leader);

// Kills the group, and waits until its leader has ended or for a few seconds.
std::optional<int> kill_group(pid_t leader, Ending ending);

// The folder that `make` makes, noted with no moment between. What `make` throws is thrown on.
std::filesystem::path start_folder(const std::function<std::filesystem::path()>& make);
void note_folder(const std::filesystem::path& folder);
void forget_folder(const std::filesystem::path& folder);

// What takes a change back, done at a signal after all groups have ended; noted before the change is made.
// Destroyed, it is done too. It may use nothing of this file.
class Undo {
 public:
  explicit Undo(std::function<void()> undo);
  ~Undo();
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

 private:
  std::function<void()> undo_;
};

// Removes a folder in which a process that was killed may just be making its last file.
void remove_folder(const std::filesystem::path& folder);

// Ends all groups, takes all changes back and removes all folders that are noted. From then on whoever would
// note another waits for ever: the program must end.
void end_all_unfinished();

}  // namespace attnprof
