// libFuzzer target: any text as a --config file, of a command with an option of every kind.
#include <cstdlib>

#include "base/error.hpp"
#include "cli/flags/config_file.hpp"

namespace attnprof {
namespace {

// Ends the program so that libFuzzer keeps the input.
void require(bool holds) {
  if (!holds) std::abort();
}

struct Options {
  std::string seed, config;
  std::vector<std::string> lengths, knobs;
  bool dry_run = false;
};

void fuzz(const std::string& text) {
  CLI::App root{"", "attnprof"};
  CLI::App& app = *root.add_subcommand("sweep", "");
  root.add_subcommand("gate", "")->add_option("--config");
  Options options;
  const CLI::Option* seed = app.add_option("--seed", options.seed);
  app.add_option("-N,--seqlen", options.lengths)->allow_extra_args(false);
  app.add_option("--knob", options.knobs)->allow_extra_args(false);
  const CLI::Option* dry_run = app.add_flag("--dry-run", options.dry_run);
  app.add_option("--config", options.config)->configurable(false);
  try {
    apply_config_text(app, text, "fuzz.toml");
  } catch (const UsageError&) {
    return;
  }
  require(options.config.empty() && seed->count() <= 1 && dry_run->count() <= 1);
  require(options.dry_run == (dry_run->count() == 1));
}

}  // namespace
}  // namespace attnprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attnprof::fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
