// Ceilings that were measured earlier, in the folder of compiled kernels: <root>/ceilings/<hash>.json.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "device/ceilings.hpp"

namespace attnprof {

class CeilingCache {
 public:
  // `identity`: all that the figures hang on: the GPU and its settings, the driver, the kernels' code.
  CeilingCache(const std::filesystem::path& root, const std::string& identity);

  // Nothing where there is no file, or one that cannot be read as ceilings: it will be replaced.
  std::optional<Ceilings> find() const;
  // By rename. A folder that cannot be written keeps nothing: they are measured again the next time.
  void keep(const Ceilings& ceilings) const;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

}  // namespace attnprof
