#include "gate/pr/repository.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/error.hpp"
#include "base/shell_word.hpp"
#include "gate/pr/inside.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

fs::path top_of(const Git& git, const fs::path& here) {
  const GitAnswer answer = git.ask(here, {"rev-parse", "--show-toplevel"});
  if (answer.code == 0) return fs::canonical(answer.line());
  refuse_dubious_owner(answer);
  if (answer.errors.find("not a git repository") != std::string::npos)
    throw EnvironmentError(fmt::format(
        "{} is in no git repository; run gate-pr in the one that has your kernels", here.string()));
  throw EnvironmentError(fmt::format("git shows no working tree in {}: {}; run gate-pr in one", here.string(),
                                     first_complaint(answer)));
}

// Empty where there is none of that name.
std::string commit_named(const Git& git, const fs::path& top, const std::string& revision) {
  return git.ask(top, {"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"})
      .line();
}

bool is_shallow(const Git& git, const fs::path& top) {
  return git.ask(top, {"rev-parse", "--is-shallow-repository"}).line() == "true";
}

std::vector<std::string> remotes_of(const Git& git, const fs::path& top) {
  std::vector<std::string> all;
  std::istringstream lines(git.ask(top, {"remote"}).output);
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  return all;
}

// Where the history that is missing comes from: `origin`, unless it is called otherwise.
std::string main_remote(const std::vector<std::string>& remotes) {
  if (remotes.empty()) return "";
  return std::ranges::find(remotes, "origin") != remotes.end() ? "origin" : remotes.front();
}

std::string fetching(bool shallow, const std::string& remote, const std::string& what) {
  std::vector<std::string> words = {"git", "fetch"};
  if (shallow) words.emplace_back("--unshallow");
  words.push_back(remote);
  if (!what.empty()) words.push_back(what);
  return shell_words(words);
}

std::string branch_of(const std::string& remote, const std::string& branch) {
  return fmt::format("+refs/heads/{}:refs/remotes/{}/{}", branch, remote, branch);
}

bool is_hash(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// A branch of a remote and a commit can be fetched by name; of anything else only the user knows what it is.
[[noreturn]] void refuse_unknown(const Git& git, const fs::path& top, const std::string& revision) {
  const std::vector<std::string> remotes = remotes_of(git, top);
  const bool shallow = is_shallow(git, top);
  for (const std::string& remote : remotes)
    if (revision.starts_with(remote + "/"))
      throw EnvironmentError(
          fmt::format("--base {}: this clone does not have that branch; run first: {}", revision,
                      fetching(shallow, remote, branch_of(remote, revision.substr(remote.size() + 1)))));
  const std::string remote = main_remote(remotes);
  if (is_hash(revision) && !remote.empty())
    throw EnvironmentError(fmt::format("--base {}: this clone does not have that commit; run first: {}",
                                       revision, fetching(shallow, remote, revision)));
  if (!remote.empty() && !commit_named(git, top, remote + "/" + revision).empty())
    throw UsageError(fmt::format("--base {}: there is no such revision here; give --base {}/{}", revision,
                                 remote, revision));
  if (shallow && !remote.empty())
    throw EnvironmentError(fmt::format(
        "--base {}: this clone has no such revision and only a part of the history; run first: {}", revision,
        fetching(true, remote, "")));
  throw UsageError(fmt::format(
      "--base {}: there is no such revision in {}; give a branch, a tag or a commit (git branch --all)",
      revision, top.string()));
}

std::string merge_base(const Git& git, const fs::path& top, const std::string& revision,
                       const std::string& commit) {
  const GitAnswer answer = git.ask(top, {"merge-base", commit, "HEAD"});
  if (answer.code == 0) return answer.line();
  if (answer.code != 1)
    throw EnvironmentError(fmt::format("git merge-base failed: {}", first_complaint(answer)));
  const std::string remote = main_remote(remotes_of(git, top));
  if (!is_shallow(git, top) || remote.empty())
    throw EnvironmentError(fmt::format(
        "{} and HEAD have no commit in common, so there is no merge base; give the branch that the pull "
        "request goes to",
        revision));
  throw EnvironmentError(fmt::format(
      "this clone has only a part of the history, in which {} and HEAD have no commit in common; run first: {}",
      revision, fetching(true, remote, "")));
}

std::vector<std::string> changed_files(const Git& git, const fs::path& top,
                                       const std::vector<std::string>& outputs) {
  std::vector<std::string> words = {"status", "--porcelain", "-z", "--no-renames", "--", ":(top)"};
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    if (const auto inside = path_inside(top, fs::absolute(output)))
      words.push_back(":(top,exclude,literal)" + inside->string());
  }
  std::vector<std::string> files;
  for (const std::string& entry : git.parts(top, words))
    if (entry.size() > 3) files.push_back(entry.substr(3));  // XY PATH
  return files;
}

}  // namespace

std::string short_commit(const std::string& commit) { return commit.substr(0, 10); }

Repository open_repository(const Git& git, const std::string& revision,
                           const std::vector<std::string>& outputs) {
  const fs::path here = fs::current_path();
  Repository found;
  found.top = top_of(git, here);
  found.folder = path_inside(found.top, here).value_or(".");
  found.revision = revision;
  found.head = commit_named(git, found.top, "HEAD");
  if (found.head.empty())
    throw EnvironmentError(fmt::format(
        "the repository {} has no commit yet, so there is nothing to compare with", found.top.string()));
  const std::string commit = commit_named(git, found.top, revision);
  if (commit.empty()) refuse_unknown(git, found.top, revision);
  found.base = merge_base(git, found.top, revision, commit);
  found.changed = changed_files(git, found.top, outputs);
  return found;
}

}  // namespace attnprof
