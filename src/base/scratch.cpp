#include "base/scratch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/private_file.hpp"

namespace attnprof {
namespace fs = std::filesystem;

fs::path ScratchDir::temporary_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

ScratchDir::ScratchDir(const fs::path& parent) {
  try {
    path_ = make_private_folder(parent);
  } catch (const std::system_error& error) {
    throw EnvironmentError(fmt::format("no temporary directory can be made in {}: {}; set TMPDIR to one",
                                       parent.string(), error.code().message()));
  }
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace attnprof
