#include "base/trusted_path.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "base/links.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

std::optional<uid_t> user_id(std::string_view text) {
  uid_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return id;
}

// Whom and what the user trusts.
struct Trusted {
  std::set<uid_t> owners = {0, geteuid()};
  std::vector<fs::path> folders;

  Trusted() {
    // As git does: who may become root by sudo loses nothing when root runs their programs.
    if (const char* caller = std::getenv("SUDO_UID"); caller && geteuid() == 0)
      if (const auto id = user_id(caller)) owners.insert(*id);
    const char* named = std::getenv("ATTNPROF_TRUST");
    std::istringstream parts(named ? named : "");
    for (std::string part; std::getline(parts, part, ':');) {
      if (const auto id = user_id(part)) owners.insert(*id);
      if (part.starts_with('/')) folders.push_back(fs::path(part).lexically_normal());
    }
  }
  bool vouch_for(const fs::path& path) const {
    const std::string normal = path.lexically_normal().string();
    for (const fs::path& folder : folders)
      if (normal == folder || normal.starts_with((folder / "").string())) return true;
    return false;
  }
};

// Whether this user namespace has a number for a user: in a container of an ordinary user, root of the host
// and everybody else are one unknown user.
bool is_known(uid_t user) {
  std::ifstream map("/proc/self/uid_map");
  bool any = false;
  for (uint64_t inside, outside, count; map >> inside >> outside >> count; any = true)
    if (user >= inside && user - inside < count) return true;
  return !any;
}

std::string name_of(uid_t user) {
  const passwd* entry = getpwuid(user);
  return entry ? fmt::format("{}, user id {}", entry->pw_name, user) : fmt::format("user id {}", user);
}

// Root's, or of its owner alone, as many systems give every user.
bool is_private_group(gid_t id, uid_t owner) {
  if (id == 0) return true;
  const passwd* user = getpwuid(owner);
  const std::string name = user ? user->pw_name : "";
  const group* entry = getgrgid(id);
  return entry && name == entry->gr_name && (!entry->gr_mem || !*entry->gr_mem);
}

// Follows a path as the kernel does, and looks at everything on the way.
class Walk {
 public:
  explicit Walk(const fs::path& path) { push(fs::absolute(path)); }

  Trust look() {
    if (look_at(at_)) return trust_;
    while (!left_.empty()) {
      const std::string part = left_.front();
      left_.pop_front();
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        at_ = at_.parent_path();
        continue;
      }
      if (look_at(at_ / part)) return trust_;
      if (!S_ISLNK(status_.st_mode))
        at_ /= part;
      else if (!follow(at_ / part))
        return trust_;
    }
    look_beside();
    return trust_;
  }

 private:
  void push(const fs::path& path) {
    if (path.is_absolute()) at_ = "/";
    std::deque<std::string> parts;
    for (const fs::path& part : path.relative_path()) parts.push_back(part.string());
    left_.insert(left_.begin(), parts.begin(), parts.end());
  }

  void look_beside() {
    const fs::path folder = S_ISDIR(status_.st_mode) ? at_ : at_.parent_path();
    if (folder != shared_folder_) return;
    trust_.refusal = fmt::format(
        "anybody can put files into {}; take a folder of your own, or set ATTNPROF_TRUST={} if you trust "
        "everybody here",
        folder.string(), folder.string());
  }

  bool follow(const fs::path& link) {
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    if (error || ++links_ > most_links) return false;
    push(target);
    return true;
  }

  // True when there is no need to go on.
  bool look_at(const fs::path& path) {
    if (lstat(path.c_str(), &status_) != 0) return true;
    const bool known = is_known(status_.st_uid);
    if (known && !trusted_.owners.contains(status_.st_uid)) {
      trust_.refusal = fmt::format(
          "{} belongs to another user ({}); use one of your own, or set ATTNPROF_TRUST={} if you trust that "
          "user",
          path.string(), name_of(status_.st_uid), status_.st_uid);
      return true;
    }
    if (S_ISLNK(status_.st_mode)) return false;  // its mode means nothing
    const bool sticky = S_ISDIR(status_.st_mode) && status_.st_mode & S_ISVTX;
    if (status_.st_mode & S_IWOTH && !sticky) {
      trust_.refusal = fmt::format("anybody can write to {}; run chmod o-w on it, or set ATTNPROF_TRUST={}",
                                   path.string(), path.string());
      return true;
    }
    if (status_.st_mode & S_IWOTH) shared_folder_ = path;
    if (!known)
      warn(path, "belongs to a user whom this container does not know");
    else if (status_.st_mode & S_IWGRP && !sticky && !is_private_group(status_.st_gid, status_.st_uid))
      warn(path, fmt::format("can be written by the whole group {}", status_.st_gid));
    return false;
  }

  void warn(const fs::path& path, const std::string& why) {
    trust_.warning = fmt::format("{} {}: whoever that is decides what runs here", path.string(), why);
  }

  const Trusted trusted_;
  Trust trust_;
  fs::path at_ = "/", shared_folder_;
  std::deque<std::string> left_;
  struct stat status_ {};
  int links_ = 0;
};

std::atomic<bool> prints_warnings = false;

void print_once(const std::string& warning) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::lock_guard lock(mutex);
  if (printed.insert(warning).second) fmt::print(stderr, "attnprof: warning: {}\n", warning);
}

}  // namespace

Trust examine_trust(const fs::path& path) {
  static std::mutex mutex;  // the system's lists of users and groups are read one at a time
  const std::lock_guard lock(mutex);
  const Trusted trusted;
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || trusted.vouch_for(real) || trusted.vouch_for(fs::absolute(path))) return {};
  return Walk(path).look();
}

void require_trusted(const fs::path& path, std::string_view what) {
  const Trust trust = examine_trust(path);
  if (!trust.refusal.empty())
    throw EnvironmentError(fmt::format("{} {} is not used: {}", what, path.string(), trust.refusal));
  if (prints_warnings && !trust.warning.empty()) print_once(trust.warning);
}

void print_trust_warnings() { prints_warnings = true; }

}  // namespace attnprof
