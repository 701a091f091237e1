#include "measure/compile/scratch.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/unfinished.hpp"
#include "error.hpp"

namespace attnprof {
namespace fs = std::filesystem;

fs::path ScratchDir::temporary_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

ScratchDir::ScratchDir(const fs::path& parent) {
  std::string pattern = (parent / "attnprof-XXXXXX").string();
  if (!mkdtemp(pattern.data()))  // made with mode 0700
    throw EnvironmentError(fmt::format("no temporary directory can be made in {}: {}; set TMPDIR to one",
                                       parent.string(), std::strerror(errno)));
  path_ = pattern;
  claim_.emplace(path_);
}

ScratchDir::~ScratchDir() {
  if (!path_.empty()) remove_folder(path_);
}

}  // namespace attnprof
