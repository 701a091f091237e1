#include "gate/pr/inner_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "gate/pr/inside.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

struct Permitted {
  std::string_view name;
  bool takes_files = false;  // as arguments; else options alone name files
};

// Commands that write rows with -o which the gate takes.
constexpr std::array permitted = {Permitted{"compile"}, Permitted{"sweep"},
                                  Permitted{.name = "resources", .takes_files = true}};

// The rows' file, the gate and its reports are gate-pr's own.
constexpr std::array<std::string_view, 11> ours = {"--output", "--overwrite", "--append",      "--resume",
                                                   "--gate",   "--dry-run",   "--markdown",    "--junit",
                                                   "--json",   "--help",      "--gate-retries"};

// Their files may be new in a pull request.
constexpr std::array<std::string_view, 2> own_variants = {"--variant-file", "--plugin"};

// Options whose value is a file or folder whatever it is called.
constexpr std::array<std::string_view, 5> of_files = {"--variant-file", "--plugin", "--config",
                                                      "--target-file", "--kernels"};

// "compile, sweep or resources".
std::string permitted_names() {
  std::vector<std::string> names;
  for (const Permitted& one : permitted) names.emplace_back(one.name);
  return either(names);
}

const Permitted& permitted_command(const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "" : words.front();
  for (const Permitted& one : permitted)
    if (one.name == name) return one;
  if (words.empty())
    throw UsageError(
        fmt::format("gate-pr needs a command to run on both sides; give {} with its options last, after --",
                    permitted_names()));
  throw UsageError(
      fmt::format("gate-pr runs {}, not '{}'; give one of them after --", permitted_names(), name));
}

std::string_view option_of(std::string_view word) {  // --name of --name=VALUE, -o of -oFILE
  if (word.starts_with("--")) return word.substr(0, word.find('='));
  return word.starts_with('-') && word.size() > 1 ? word.substr(0, 2) : "";
}

void refuse_ours(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string_view option = option_of(word);
    if (option == "-o" || option == "-h" || std::ranges::find(ours, option) != ours.end())
      throw UsageError(fmt::format(
          "the command after -- may not have {}: gate-pr names its files and gates them; its own options stand "
          "before --",
          option));
  }
}

// Where a word's path begins; nothing where it can hold none.
std::optional<size_t> path_begin(const std::string& word) {
  if (!word.starts_with('-')) return 0;
  const size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string::npos) return std::nullopt;
  return equals + 1;
}

// From `here`, a folder in `top`, such that a program finds the same of its own side; with a slash, since a
// library's bare name would be looked up elsewhere.
std::string relative(const fs::path& top, const fs::path& here, const fs::path& inside) {
  const std::string path = (top / inside).lexically_normal().lexically_relative(here).string();
  return path.starts_with("..") ? path : "./" + path;
}

std::string mapped(const std::string& path, const fs::path& top, const fs::path& here) {
  if (path.empty()) return path;
  const fs::path whole = here / path;
  const auto inside = path_inside(top, whole);
  if (inside) return fs::path(path).is_absolute() ? relative(top, here, *inside) : path;
  std::error_code error;
  return fs::exists(whole, error) ? whole.lexically_normal().string() : path;
}

[[noreturn]] void refuse_taken_away(const fs::path& path) {
  throw EnvironmentError(fmt::format(
      "{} is in the merge base alone: the pull request takes it away, so there is nothing to compare it with; "
      "leave it out of the command",
      path.lexically_normal().string()));
}

fs::path here_of(const Repository& repository) {
  return (repository.top / repository.folder / "").lexically_normal().parent_path();
}

}  // namespace

void check_inner_command(const std::vector<std::string>& words) {
  permitted_command(words);
  refuse_ours(words);
}

InnerCommand::InnerCommand(const std::vector<std::string>& words, const Repository& repository)
    : words_(words) {
  const fs::path here = here_of(repository);
  for (size_t i = 1; i < words_.size(); ++i)
    if (const auto begin = path_begin(words_[i]))
      words_[i] = words_[i].substr(0, *begin) + mapped(words_[i].substr(*begin), repository.top, here);
}

std::vector<NamedFile> InnerCommand::named(const Repository& repository, const fs::path& base_folder) const {
  const bool takes_files = permitted_command(words_).takes_files;
  const fs::path here = here_of(repository);
  std::vector<NamedFile> all;
  for (size_t i = 1; i < words_.size(); ++i) {
    const auto begin = path_begin(words_[i]);
    if (!begin || *begin == words_[i].size()) continue;
    const fs::path path = words_[i].substr(*begin);
    std::error_code error;
    if (!path_inside(repository.top, here / path)) continue;
    if (!fs::exists(here / path, error)) {
      if (fs::exists(base_folder / path, error)) refuse_taken_away(path);
      continue;
    }
    const std::string_view option = option_of(*begin > 0 ? words_[i] : words_[i - 1]);
    const bool own = std::ranges::find(own_variants, option) != own_variants.end();
    const bool argument = takes_files && option.empty();
    // A folder may be called flash2, and is not what `--variant flash2` names.
    const bool of_file = argument || std::ranges::find(of_files, option) != of_files.end() ||
                         path.string().find_first_of("/.") != std::string::npos;
    if (of_file) all.push_back({i, path, own || argument});
  }
  if (all.empty())
    throw UsageError(fmt::format(
        "attnprof {} names no file or folder of this repository, so both sides would be the same: give "
        "--variant-file, --plugin, --config, --target-file or --kernels, or to resources a file that both sides "
        "have",
        shell_words(words_)));
  return all;
}

std::vector<std::string> InnerCommand::without(const std::vector<NamedFile>& files) const {
  std::set<size_t> left_out;
  for (const NamedFile& file : files) {
    left_out.insert(file.word);
    const bool of_option_before = words_[file.word].front() != '-' && words_[file.word - 1].starts_with('-');
    if (of_option_before) left_out.insert(file.word - 1);
  }
  std::vector<std::string> rest;
  for (size_t i = 0; i < words_.size(); ++i)
    if (!left_out.contains(i)) rest.push_back(words_[i]);
  return rest;
}

}  // namespace attnprof
