#include "gate/pr/base_tree.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.hpp"
#include "base/shell_word.hpp"
#include "gate/pr/inside.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// Where git keeps what it knows of a repository's worktrees, a folder for each.
fs::path records_of(const Git& git, const fs::path& repository) {
  return fs::weakly_canonical(repository / git.line(repository, {"rev-parse", "--git-common-dir"})) /
         "worktrees";
}

std::string first_line(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// The merge base's folder in a scratch folder.
std::string base_name(const fs::path& scratch) { return scratch.filename().string() + "-base"; }

// In attnprof.DIGITS/attnprof.DIGITS-base, as a gate-pr makes it, at whatever depth.
bool lies_in_a_base(const fs::path& worktree) {
  for (fs::path base = worktree; base.has_relative_path(); base = base.parent_path())
    if (const fs::path scratch = base.parent_path();
        is_scratch_name(scratch.filename().string()) && base.filename() == base_name(scratch))
      return true;
  return false;
}

// Of a worktree in `scratch`, or of a gate-pr that was killed. That its folder is not there says nothing: it
// may be another container's.
bool is_ours(const fs::path& record, const fs::path& scratch) {
  const fs::path link = record / first_line(record / "gitdir");  // PATH/.git of the worktree
  if (link == record / "") return record.filename().string().starts_with(scratch.filename().string());
  if (path_inside(scratch, link)) return true;
  std::error_code error;
  return lies_in_a_base(link.parent_path()) && !fs::exists(record / "locked", error) && is_abandoned(record);
}

// What git's own `worktree remove` does of a worktree that is gone, without starting git: a signal may be
// ending the program.
void remove_records(const fs::path& records, const fs::path& scratch) {
  std::error_code error;
  std::vector<fs::path> ours;
  for (fs::directory_iterator entry(records, error), end; !error && entry != end; entry.increment(error))
    if (is_ours(entry->path(), scratch)) ours.push_back(entry->path());
  for (const fs::path& record : ours) fs::remove_all(record, error);
  if (!ours.empty() && fs::is_empty(records, error) && !error) fs::remove(records, error);
}

// Sources that anybody may write to are not compiled, and git leaves the modes of files to the umask.
class NothingForAnybody {
 public:
  NothingForAnybody() : before_(umask(S_IWOTH)) { umask(before_ | S_IWOTH); }
  ~NothingForAnybody() { umask(before_); }
  NothingForAnybody(const NothingForAnybody&) = delete;
  NothingForAnybody& operator=(const NothingForAnybody&) = delete;

 private:
  mode_t before_;
};

struct Submodule {
  std::string commit, path;
};

// Those that a commit names: entries "160000 commit HASH\tPATH".
std::vector<Submodule> submodules_of(const Git& git, const fs::path& repository, const std::string& commit) {
  std::vector<Submodule> all;
  for (const std::string& entry : git.parts(repository, {"ls-tree", "-r", "-z", "--full-tree", commit})) {
    const size_t tab = entry.find('\t'), hash = entry.rfind(' ', tab);
    if (entry.starts_with("160000 ") && tab != std::string::npos)
      all.push_back({entry.substr(hash + 1, tab - hash - 1), entry.substr(tab + 1)});
  }
  return all;
}

bool has_commit(const Git& git, const fs::path& repository, const std::string& commit) {
  return git.ask(repository, {"cat-file", "-e", commit + "^{commit}"}).code == 0;
}

bool is_lfs_pointer(const fs::path& file) {
  return first_line(file) == "version https://git-lfs.github.com/spec/v1";
}

std::string fetch_lfs(const fs::path& repository, const std::string& commit) {
  return fmt::format("git -C {} lfs fetch origin {}", shell_word(repository.string()), commit);
}

[[noreturn]] void refuse_checkout(const fs::path& repository, const std::string& commit,
                                  const GitAnswer& answer) {
  const bool lfs = answer.errors.find("filter lfs") != std::string::npos ||
                   answer.errors.find("filter 'lfs'") != std::string::npos ||
                   answer.errors.find("git-lfs") != std::string::npos;
  throw EnvironmentError(fmt::format("the merge base {} cannot be checked out beside the pull request: {}{}",
                                     short_commit(commit), first_complaint(answer),
                                     lfs ? "; run first: " + fetch_lfs(repository, commit) : ""));
}

}  // namespace

BaseTree::BaseTree(const Git& git, const Repository& repository, const fs::path& scratch)
    : git_(git), scratch_(scratch), top_(scratch / base_name(scratch)) {
  const NothingForAnybody mask;
  add(repository.top, top_, repository.base);
  add_submodules(repository.top, top_, repository.base);
}

void BaseTree::add(const fs::path& from, const fs::path& to, const std::string& commit) {
  const fs::path records = records_of(git_, from);
  remove_records(records, scratch_);  // of one that was killed
  undos_.push_back(
      std::make_unique<Undo>([records, scratch = scratch_] { remove_records(records, scratch); }));
  const GitAnswer answer = git_.ask(from, {"worktree", "add", "--detach", "--quiet", to.string(), commit});
  if (answer.code != 0) refuse_checkout(from, commit, answer);
  // Others' /tmp may be another, but the record they see.
  claims_.push_back(std::make_unique<ScratchClaim>(git_.line(to, {"rev-parse", "--absolute-git-dir"})));
  refuse_pointers(from, to, commit);
}

void BaseTree::add_submodules(const fs::path& from, const fs::path& to, const std::string& commit) {
  for (const Submodule& module : submodules_of(git_, to, commit)) {
    const fs::path theirs = from / module.path, ours = to / module.path;
    std::error_code error;
    if (!fs::exists(theirs / ".git", error)) {
      empty_submodules_.push_back(module.path);
      continue;
    }
    if (!has_commit(git_, theirs, module.commit))
      throw EnvironmentError(fmt::format(
          "the submodule {} lacks the commit that the merge base has; run first: git -C {} fetch origin {}",
          module.path, shell_word(theirs.string()), module.commit));
    add(theirs, ours, module.commit);
    add_submodules(theirs, ours, module.commit);
  }
}

// A file of git-lfs that is there on one side and a pointer on the other would be compared with its pointer.
void BaseTree::refuse_pointers(const fs::path& from, const fs::path& to, const std::string& commit) const {
  for (const std::string& file : git_.parts(to, {"ls-files", "-z", "--", ":(attr:filter=lfs)"}))
    if (is_lfs_pointer(to / file) && fs::exists(from / file) && !is_lfs_pointer(from / file))
      throw EnvironmentError(fmt::format(
          "{} is kept by git-lfs, and the merge base has only a pointer to it; run first: git -C {} lfs install "
          "--local && {}",
          file, shell_word(from.string()), fetch_lfs(from, commit)));
}

}  // namespace attnprof
