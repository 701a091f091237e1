#include "gate/pr/sides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/program_path.hpp"
#include "base/run_program.hpp"
#include "base/shell_word.hpp"
#include "base/standard_streams.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

std::string how_it_ended(int code) {
  if (code > 128) return fmt::format("was ended by signal {} ({})", code - 128, strsignal(code - 128));
  return fmt::format("ended with exit code {}", code);
}

bool has_rows(const std::string& file) {
  std::error_code error;
  return fs::file_size(file, error) > 0 && !error;
}

// Ignored files come from a build, never from a commit.
bool is_ignored(const Git& git, const fs::path& folder, const fs::path& file) {
  return git.ask(folder, {"check-ignore", "--quiet", "--", file.string()}).code == 0;
}

// The cells of the column that says of what machine code a row was made, sorted; nothing where there is no
// such column or one of them is empty.
std::optional<std::vector<std::string>> code_hashes(const std::string& file) {
  std::vector<std::string> all;
  std::optional<size_t> place;
  bool header = true, whole = true;
  for_each_record(read_text_file(file), file, [&](const RecordView& record) {
    if (!header) {
      if (!place || *place >= record.fields.size() || record.fields[*place].empty())
        whole = false;
      else
        all.push_back(record.fields[*place]);
      return;
    }
    header = false;
    for (size_t i = 0; i < record.fields.size(); ++i)
      if (record.fields[i] == "kernel_hash" || record.fields[i] == "code_hash") place = i;
  });
  if (!whole || all.empty()) return std::nullopt;
  std::ranges::sort(all);
  return all;
}

std::string content(const fs::path& file) { return read_file(file.string()); }

}  // namespace

void build_side(const Side& side, const std::string& build) {
  if (build.empty()) return;
  say(fmt::format("gate-pr: building {}: {}", side.name, build));
  const int code = run_program({"/bin/sh", "-c", build}, "", nullptr, {.folder = side.folder});
  if (code == 0) return;
  throw EnvironmentError(fmt::format("--build '{}' {} in {}{}; what it said stands above", build,
                                     how_it_ended(code), side.name,
                                     side.is_base ? ", so there is nothing to compare with" : ""));
}

void measure_side(const Side& side, const std::vector<std::string>& words) {
  say(fmt::format("gate-pr: measuring {}: attnprof {}", side.name, shell_words(words)));
  std::vector<std::string> command = {own_program()};
  if (is_quiet()) command.emplace_back("--quiet");
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"-o", side.file});
  const int code = run_program(command, "", nullptr, {.folder = side.folder, .ending = Ending::by_itself});
  if (code <= static_cast<int>(ExitCode::failed) && has_rows(side.file))
    return;  // the gate judges failed rows
  const bool usage = code == static_cast<int>(ExitCode::usage) && !side.is_base;
  const std::string end = code <= static_cast<int>(ExitCode::failed) ? "wrote no rows" : how_it_ended(code);
  throw Error(usage ? ExitCode::usage : ExitCode::environment,
              fmt::format("'attnprof {}' {} in {}, so nothing was compared; what it said stands above",
                          words.front(), end, side.name));
}

std::vector<NamedFile> new_files(const Git& git, const Repository& repository,
                                 const std::vector<NamedFile>& named, const Side& head, const Side& base,
                                 const std::string& build) {
  std::vector<NamedFile> fresh;
  for (const NamedFile& file : named) {
    std::error_code error;
    if (fs::exists(base.folder / file.path, error)) continue;
    const std::string path = file.path.lexically_normal().string();
    if (build.empty() && is_ignored(git, head.folder, file.path))
      throw EnvironmentError(fmt::format(
          "{} is in no commit, since git ignores it: give --build with the command that makes it on both sides",
          path));
    if (!file.may_be_new)
      throw EnvironmentError(fmt::format(
          "{} does not have {}, which this pull request adds, so there is nothing to compare with until it is in {}",
          base.name, path, repository.revision));
    fresh.push_back(file);
  }
  return fresh;
}

std::string unchanged_sentence(const Side& head, const Side& base, const std::vector<NamedFile>& named) {
  const auto ours = code_hashes(head.file), theirs = code_hashes(base.file);
  if (ours && theirs)
    return *ours == *theirs ? "the machine code of the kernels is unchanged in every row" : "";
  std::vector<std::string> same;
  for (const NamedFile& file : named) {
    const fs::path now = head.folder / file.path, before = base.folder / file.path;
    if (!fs::is_regular_file(now) || content(now) != content(before)) return "";
    same.push_back(file.path.lexically_normal().string());
  }
  return fmt::format("{} {} unchanged: the same on both sides", fmt::join(same, ", "),
                     same.size() == 1 ? "is" : "are");
}

}  // namespace attnprof
