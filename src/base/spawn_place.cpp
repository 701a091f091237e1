#include "base/spawn_place.hpp"

#include <charconv>
#include <filesystem>
#include <string_view>

namespace attnprof {

#if __GLIBC_PREREQ(2, 29)
void start_in(posix_spawn_file_actions_t& actions, std::vector<std::string>&, const std::string& folder) {
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
}
#else
void start_in(posix_spawn_file_actions_t&, std::vector<std::string>& command, const std::string& folder) {
  if (folder.empty()) return;
  const std::vector<std::string> shell = {"/bin/sh", "-c", "cd -- \"$0\" && exec \"$@\"", folder};
  command.insert(command.begin(), shell.begin(), shell.end());
}
#endif

#if __GLIBC_PREREQ(2, 34)
void close_from(posix_spawn_file_actions_t& actions, int lowest) {
  posix_spawn_file_actions_addclosefrom_np(&actions, lowest);
}
#else
// What another thread opens meanwhile is not among them. Closing what is closed already is no error there.
void close_from(posix_spawn_file_actions_t& actions, int lowest) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (descriptor >= lowest) posix_spawn_file_actions_addclose(&actions, descriptor);
  }
}
#endif

}  // namespace attnprof
