#include "cli/inputs.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "plugin/own_variants.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Where there are none, whoever needs them says so.
std::vector<std::string> kernel_sources(const std::string& kernels_dir) {
  std::vector<std::string> sources;
  try {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(find_kernels_dir(kernels_dir), error), end;
         !error && entry != end; entry.increment(error))
      sources.push_back(entry->path().string());
  } catch (const Error&) {
  }
  return sources;
}

}  // namespace

std::vector<std::string> plan_inputs(const std::vector<std::string>& option_files,
                                     const MeasureOptions& measure) {
  std::vector<std::string> all = option_files;
  add(all, own_variant_files());
  add(all, kernel_sources(measure.kernels_dir));
  return all;
}

std::vector<std::string> outputs_of(const GateOutputs& outputs) {
  return {outputs.markdown, outputs.junit, outputs.json};
}

std::vector<std::string> target_inputs(const std::vector<std::string>& target) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& word : target)
    if (fs::is_regular_file(word, error)) files.push_back(word);
  return files;
}

}  // namespace attnprof
