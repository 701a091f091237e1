#include "base/distinct_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <map>
#include <system_error>

#include "base/error.hpp"
#include "base/output_place.hpp"

namespace attnprof {
namespace {

using Names = std::map<FileId, std::string>;

Names files_of(const std::vector<std::string>& inputs) {
  Names names;
  for (const std::string& input : inputs)
    if (struct stat status{}; !input.empty() && stat(input.c_str(), &status) == 0)
      names.emplace(FileId{status.st_dev, status.st_ino, ""}, input);
  return names;
}

[[noreturn]] void refuse_input(const std::string& output, const std::string& input) {
  throw UsageError(fmt::format("{} is {}one of the files to read; give another name for what is written",
                               output, output == input ? "" : input + ", "));
}

[[noreturn]] void refuse_twice(const std::string& output, const std::string& other) {
  throw UsageError(
      output == other
          ? fmt::format("{} is named for two outputs; give each a name of its own", output)
          : fmt::format("{} and {} are one file; give each output a name of its own", other, output));
}

bool discards(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);  // /dev/null
}

void check_output(const std::string& path, const Names& inputs, Names& outputs, const Names& streams) {
  const OutputPlace place(path);
  const FileId id = place.id();
  if (const auto found = inputs.find(id); found != inputs.end() && place.holds_data())
    refuse_input(path, found->second);
  if (const auto found = streams.find(id); found != streams.end() && !place.is_descriptor())
    refuse_twice(path, found->second);
  if (place.kind() != OutputPlace::Kind::absent && discards(place.status())) return;
  if (const auto [found, added] = outputs.emplace(id, path); !added) refuse_twice(path, found->second);
}

// Where they are files: a terminal or a pipe loses nothing.
Names standard_streams(const Names& inputs) {
  Names streams;
  for (const auto& [fd, name] :
       {std::pair{STDOUT_FILENO, "standard output"}, {STDERR_FILENO, "standard error"}}) {
    struct stat status {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const FileId id{status.st_dev, status.st_ino, ""};
    if (const auto found = inputs.find(id); found != inputs.end()) refuse_input(name, found->second);
    streams.emplace(id, name);
  }
  return streams;
}

}  // namespace

void check_distinct(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  const Names read = files_of(inputs), streams = standard_streams(read);
  Names written;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    try {
      check_output(output, read, written, streams);
    } catch (const std::system_error&) {
    }
  }
}

}  // namespace attnprof
