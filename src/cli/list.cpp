#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/overloaded.hpp"
#include "base/standard_streams.hpp"
#include "base/text_table.hpp"
#include "cli/command.hpp"
#include "cli/flags/axes.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/levels.hpp"
#include "cli/list.hpp"
#include "cli/rules.hpp"
#include "cli/text_output.hpp"
#include "device/device_profiles.hpp"
#include "plan/grammar.hpp"
#include "row/schema.hpp"
#include "row/schema_docs.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

class ListParser {
 public:
  explicit ListParser(CLI::App& app);
  ListOptions options(const Args&);

 private:
  ListOptions options_;
  OwnVariantFlags own_;
  AxisTexts head_dims_, dtypes_;
  std::string format_ = "table";
};

constexpr const char* list_footer =
    "Examples:\n"
    "  attnprof list                                   variants, tiles, targets\n"
    "  attnprof list --dtype bf16 -d 128 --target a100-sxm-80g\n"
    "  attnprof list --columns --format markdown       what the columns of a row mean\n"
    "  attnprof list --plugin ./libmine.so             does it load, what it takes\n\n"
    "Exit codes: 0 all well, 2 wrong usage, or a variant or target that cannot be read, 3 standard output cannot be "
    "written.";

ListParser::ListParser(CLI::App& app) : own_(app, "Variants of your own") {
  app.footer(list_footer);
  add_target(app, options_.device);
  add_axis(app, head_dims_, "-d,--head-dim", "Show default tiles for these", "64,128", "Options");
  add_axis(app, dtypes_, "--dtype", "Show default tiles for these", "fp16", "Options");
  app.add_flag("--columns", options_.columns, "Show the columns of a row instead");
  app.add_flag("--rules", options_.rules,
               "Show the numbers that every case is verified and timed by instead");
  app.add_flag("--levels", options_.levels,
               "Show the memory levels instead: their columns, and the roof that each is held against");
  add_choice(app, "--format", format_, "table|csv|json|markdown", "Standard output");
}

ListOptions ListParser::options(const Args&) {
  own_.load();
  refuse_two_targets(options_.device);
  refuse_both(options_.columns && options_.rules, "--columns", "--rules");
  refuse_both(options_.columns && options_.levels, "--columns", "--levels");
  refuse_both(options_.rules && options_.levels, "--rules", "--levels");
  if (head_dims_.given()) options_.head_dims = parse_axis("-d", head_dims_.texts);
  if (dtypes_.given()) options_.dtypes = parse_dtypes(dtypes_.texts);
  options_.format = parse_format(format_, true);
  return options_;
}

constexpr int64_t shown_length = 4096;  // the length for which default tiles are shown

Case case_of(const Variant& variant, Dtype dtype, int64_t head_dim, const DeviceProfile& device) {
  Case c;
  c.variant = &variant;
  c.problem.dtype = dtype;
  c.problem.head_dim = head_dim;
  c.problem.q_len = c.problem.kv_len = shown_length;
  resolve(c, device, device.hbm_bytes);
  return c;
}

// Of the block that needs most; nothing where a library launches some.
std::optional<int64_t> shared_memory(const Case& c) {
  using Bytes = std::optional<int64_t>;
  const auto of_block =
      overloaded{[](const KernelLaunch& kernel) { return Bytes(kernel.smem_bytes); },
                 [](const GemmLaunch&) { return Bytes(); }, [](const MemsetLaunch&) { return Bytes(0); },
                 [](const PluginLaunch&) { return Bytes(); }};
  int64_t most = 0;
  for (const Step& step : c.steps) {
    const Bytes bytes = std::visit(of_block, step.launch);
    if (!bytes) return std::nullopt;
    most = std::max(most, *bytes);
  }
  return most;
}

std::string shared_memory_text(const Case& c) {
  const auto bytes = shared_memory(c);
  return bytes ? fmt::format("{}", *bytes) : "";
}

std::string tile_and_memory(const std::string& tile, const std::string& smem_bytes) {
  if (tile.empty()) return "cannot run";
  if (smem_bytes.empty()) return fmt::format("tile {}, shared memory as the library takes it", tile);
  return fmt::format("tile {}, {} bytes of shared memory", tile, smem_bytes);
}

std::string default_tile_text(const Case& c) {
  return c.tile.br > 0 ? fmt::format("{}x{}", c.tile.br, c.tile.bc) : "none";
}

// "stages=1 to 4; warp_rows=16 or 32".
std::string knobs_text(const Variant& variant) {
  std::string text;
  for (const Knob& knob : variant.knobs)
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", knob.name, values_text(knob));
  return text;
}

// One line for each variant, dtype and head_dim: what `list` knows, for every format.
std::vector<std::vector<std::string>> variant_lines(const ListOptions& options, const DeviceProfile& device) {
  std::vector<std::vector<std::string>> lines = {
      {"variant", "dtype", "d", "tile", "smem_bytes", "why", "idea", "takes", "knobs"}};
  for (const Variant* variant : all_variants())
    for (Dtype dtype : options.dtypes)
      for (int64_t head_dim : options.head_dims) {
        const Case c = case_of(*variant, dtype, head_dim, device);
        lines.push_back({std::string(variant->name), std::string(to_string(dtype)),
                         fmt::format("{}", head_dim), c.skip ? "" : default_tile_text(c),
                         c.skip ? "" : shared_memory_text(c), c.skip ? *c.skip : c.tile_reason,
                         std::string(variant->idea), std::string(variant->needs), knobs_text(*variant)});
      }
  return lines;
}

// One line for each variant, as README has it.
std::vector<std::vector<std::string>> variant_table(const ListOptions& options, const DeviceProfile& device) {
  std::vector<std::vector<std::string>> lines = {{"variant", "idea", "takes"}};
  for (Dtype dtype : options.dtypes)
    for (int64_t head_dim : options.head_dims)
      lines[0].push_back(fmt::format("tile, {} d={}", to_string(dtype), head_dim));
  for (const Variant* variant : all_variants()) {
    lines.push_back(
        {fmt::format("`{}`", variant->name), std::string(variant->idea), std::string(variant->needs)});
    for (Dtype dtype : options.dtypes)
      for (int64_t head_dim : options.head_dims) {
        const Case c = case_of(*variant, dtype, head_dim, device);
        lines.back().push_back(c.skip ? "cannot run" : default_tile_text(c));
      }
  }
  return lines;
}

void print_variants_for_people(const ListOptions& options, const DeviceProfile& device) {
  const size_t width = terminal_width();
  for (const Variant* variant : all_variants()) {
    print(fmt::format("{}\n{}", variant->name, wrap_text(std::string(variant->idea), width, "  ")));
    print(wrap_text("takes " + std::string(variant->needs), width, "  "));
    for (const Knob& knob : variant->knobs)
      print(wrap_text(fmt::format("knob {} ({}): {}", knob.name, values_text(knob), knob.meaning), width,
                      "  "));
    for (const auto& line : variant_lines(options, device)) {
      if (line[0] != variant->name) continue;
      print(wrap_text(
          fmt::format("{} d={}: {}: {}", line[1], line[2], tile_and_memory(line[3], line[4]), line[5]), width,
          "    "));
    }
  }
  print(fmt::format("\nTiles and shared memory for {}, which allows {} bytes a block. --target takes:\n",
                    device.name, device.smem_per_block_bytes));
  std::vector<std::vector<std::string>> targets;
  for (const DeviceProfile& profile : all_profiles())
    targets.push_back({"  " + profile.name, profile.arch, profile.title});
  print(format_text_table(targets, width));
}

void print_rules_for_people() {
  std::vector<std::vector<std::string>> lines = rule_lines();
  lines.erase(lines.begin());
  print(format_text_table(lines, terminal_width()));
}

void print_columns_for_people() {
  for (const Column& column : schema())
    print(fmt::format("{}\n{}", column.name,
                      wrap_text(std::string(column.description), terminal_width(), "    ")));
}

ExitCode list_command(const ListOptions& options) {
  const bool people = options.format == Format::table;
  if (options.columns) {
    if (people)
      print_columns_for_people();
    else
      print(format_lines(schema_lines(options.format == Format::json ? Absences::told : Absences::left_out),
                         options.format));
    return ExitCode::ok;
  }
  if (options.rules) {
    if (people)
      print_rules_for_people();
    else
      print(format_lines(rule_lines(), options.format, {1}));
    return ExitCode::ok;
  }
  if (options.levels) {
    print(format_lines(level_lines(), options.format));
    return ExitCode::ok;
  }
  const DeviceProfile device = target_profile(options.device);
  if (people)
    print_variants_for_people(options, device);
  else if (options.format == Format::markdown)
    print(format_lines(variant_table(options, device), options.format));
  else
    print(format_lines(variant_lines(options, device), options.format, {2, 4}));
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry list_entry;
const CommandEntry list_entry{"list", "Show variants with their tiles on a device, and the devices known",
                              command_parser<ListParser, list_command>};

}  // namespace attnprof
