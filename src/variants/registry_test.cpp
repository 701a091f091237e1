// Kernel files and the registry say the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "device/device_profiles.hpp"
#include "schedule/variant.hpp"
#include "test_paths.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

const fs::path kernels_dir = fs::path(ATTNPROF_SOURCE_DIR) / "kernels";

using EntriesByFile = std::map<std::string, std::set<std::string>>;

void add_entry(const Step& step, EntriesByFile& used) {
  if (const auto* kernel = std::get_if<KernelLaunch>(&step.launch)) used[kernel->file].insert(kernel->entry);
}

// Files and entries that some variant launches for some supported problem.
EntriesByFile used_entries() {
  EntriesByFile used;
  const DeviceProfile& device = *find_profile("h200");
  for (const Variant* variant : all_variants())
    for (const Pass pass : variant->passes)
      for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8}) {
        const Problem p{.pass = pass, .dtype = dtype, .q_len = 512, .kv_len = 512, .head_dim = 64};
        const Tile tile = variant->default_tile(p, device).tile;
        if (variant->unsupported(p, tile, device)) continue;
        for (const Step& step : variant->steps(p, tile, device)) add_entry(step, used);
      }
  return used;
}

// `extern "C" __global__` functions of one file: the word before the parameter list of each.
std::set<std::string> entries_of(const fs::path& file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  std::set<std::string> names;
  for (size_t at = 0; (at = text.find("extern \"C\" __global__", at)) != std::string::npos; ++at) {
    const size_t end = text.find("(const __grid_constant__", at);
    if (end == std::string::npos) break;
    const size_t begin = text.find_last_of(" \n", end) + 1;
    names.insert(text.substr(begin, end - begin));
  }
  return names;
}

// kernels/lib/ holds helpers, no kernels.
EntriesByFile existing_entries() {
  EntriesByFile entries;
  for (const auto& item : fs::directory_iterator(kernels_dir))
    if (item.path().extension() == ".cu") entries[item.path().filename().string()] = entries_of(item.path());
  return entries;
}

TEST(Registry, EveryStepHasItsKernelAndEveryKernelItsStep) {
  const EntriesByFile used = used_entries(), existing = existing_entries();
  for (const auto& [file, entries] : used)
    for (const std::string& entry : entries)
      EXPECT_TRUE(existing.contains(file) && existing.at(file).contains(entry))
          << "a step launches " << entry << ", which kernels/" << file << " does not define";
  for (const auto& [file, entries] : existing) {
    EXPECT_FALSE(entries.empty()) << "kernels/" << file << " defines no kernel";
    for (const std::string& entry : entries)
      EXPECT_TRUE(used.contains(file) && used.at(file).contains(entry))
          << "no variant has a step for " << entry << " of kernels/" << file;
  }
}

TEST(Registry, NamesAreFoundAndDiffer) {
  std::set<std::string_view> names;
  for (const Variant* variant : all_variants()) {
    EXPECT_TRUE(names.insert(variant->name).second) << variant->name;
    EXPECT_EQ(find_variant(variant->name), variant);
  }
  EXPECT_EQ(find_variant("no such variant"), nullptr);
}

}  // namespace
}  // namespace attnprof
