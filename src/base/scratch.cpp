#include "base/scratch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/private_file.hpp"
#include "base/unfinished.hpp"

namespace attnprof {
namespace fs = std::filesystem;

fs::path ScratchDir::temporary_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

ScratchDir::ScratchDir(const fs::path& parent) {
  try {
    path_ = start_folder([&] { return make_private_folder(parent); });
  } catch (const std::system_error& error) {
    throw EnvironmentError(fmt::format("no temporary directory can be made in {}: {}; set TMPDIR to one",
                                       parent.string(), error.code().message()));
  }
  claim_.emplace(path_);
}

void ScratchDir::release() {
  claim_->keep();
  claim_.reset();
  path_.clear();
}

ScratchDir::~ScratchDir() {
  if (!path_.empty()) remove_folder(path_);
}

}  // namespace attnprof
