#include "measure/compile/kernel_tree.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/installation.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

std::string hash_of(const fs::path& folder) {
  std::map<std::string, std::string> hashes;  // by name, so in an order that every file system has
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    std::ostringstream text;
    text << std::ifstream(entry->path(), std::ios::binary).rdbuf();
    hashes[entry->path().lexically_relative(folder).string()] = content_hash(text.str());
  }
  std::string all;
  for (const auto& [name, hash] : hashes) all += fmt::format("{} {}\n", hash, name);
  return content_hash(all).substr(0, 16);
}

}  // namespace

std::optional<KernelTree> kernel_tree(const std::string& option) {
  try {
    const std::string folder = find_kernels_dir(option);
    return KernelTree{folder, hash_of(folder)};
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace attnprof
