// --variant-file and --plugin: variants of one's own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "plugin/own_variants.hpp"

namespace attnprof {

class OwnVariantFlags {
 public:
  OwnVariantFlags(CLI::App& app, const std::string& group);
  bool given() const { return !own_.files.empty() || !own_.plugins.empty(); }
  // Loads them in place of what was loaded before, and returns their names. Throws UsageError.
  std::vector<std::string> load() const;

 private:
  OwnVariants own_;
};

}  // namespace attnprof
