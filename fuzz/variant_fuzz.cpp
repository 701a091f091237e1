// libFuzzer target: any text as a variant file, and the command lines for nvcc of what is accepted. nvcc
// hands them to a shell: no word may say more to it than itself.
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "base/private_file.hpp"
#include "measure/compile/nvcc_command.hpp"
#include "plugin/variant_description.hpp"
#include "plugin/variant_file.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

// Ends the program so that libFuzzer keeps the input.
void require(bool holds) {
  if (!holds) std::abort();
}

// Where the sources that variant files name lie; their own names may say anything.
const fs::path& folder() {
  static const fs::path the_folder = [] {
    fs::path made = make_private_folder(fs::temp_directory_path(), "attnprof-fuzz");
    for (const char* name : {"mine.cu", "a b.cu", "$(x).cu", "`x`.cu", "x;y", "a\"b"})
      std::ofstream(made / name) << "kernel";
    static const fs::path removed_at_the_end = made;
    std::atexit([] { fs::remove_all(removed_at_the_end); });
    return made;
  }();
  return the_folder;
}

// By other means than the program's: what means itself to a shell, between double quotes or not. nvcc quotes
// definitions, so that these may hold spaces, brackets and signs of comparison; only a slash may not be
// theirs.
void check_word(const std::string& word) {
  static const std::set<char> plain(
      std::begin("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-="),
      std::end("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-=") - 1);
  const bool definition = word.starts_with("-D");
  require(!word.empty() && word.size() < 300);
  for (const char c : word) {
    const bool quoted = definition && std::string_view(" :*%<>()").find(c) != std::string_view::npos;
    require(plain.contains(c) || quoted || (!definition && c == '/'));
  }
  if (definition) require(word.find('=') != std::string::npos && word.find('=') > 2);
}

void check_commands(const Variant& variant, const Problem& problem, const Tile& tile) {
  DeviceProfile device;
  device.arch = "sm_90a", device.sms = 132;
  if (variant.unsupported(problem, tile, device)) return;
  for (const Step& step : variant.steps(problem, tile, device))
    for (const std::string& word : nvcc_command("nvcc", std::get<KernelLaunch>(step.launch), device.arch))
      check_word(word);
}

void fuzz(const std::string& text) {
  std::shared_ptr<const VariantDescription> file;
  try {
    file = parse_variant_description((folder() / "mine.json").string(), text);
  } catch (const UsageError&) {
    return;
  }
  const Variant variant = variant_of(file);
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const int64_t size : {int64_t{1}, int64_t{64}, int64_t{100}, int64_t{4096}}) {
        const Problem problem{.dtype = dtype,
                              .mask = mask,
                              .heads = 4,
                              .kv_heads = 2,
                              .q_len = size,
                              .kv_len = size,
                              .head_dim = size > 1024 ? 128 : size};
        check_commands(variant, problem, file->tile.tile);
      }
}

}  // namespace
}  // namespace attnprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attnprof::fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
