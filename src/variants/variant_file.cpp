#include "variants/variant_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "error.hpp"
#include "measure/compile/content_hash.hpp"
#include "variants/tiling.hpp"
#include "variants/variant_supports.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

constexpr size_t longest_name = 40;
constexpr size_t most_workspaces = 4;  // attention_max_workspaces
constexpr size_t most_steps = 16;
constexpr int64_t largest_side = 1 << 16;
constexpr int64_t most_head_dim = 1024;  // as far as the reference it is verified against goes
constexpr uintmax_t largest_file = 1 << 20;

// A rule and where it stands, for the sentence when it has no value.
struct PlacedRule {
  std::string place;  // "threads of step attention"
  Rule rule;

  // Throws RuleError with the whole sentence.
  int64_t value(std::span<const RuleValue> values, int64_t lowest, int64_t highest) const {
    const auto fail = [this](const std::string& why) {
      throw RuleError(fmt::format("{}, '{}': {}", place, rule.text(), why));
    };
    int64_t number = 0;
    try {
      number = rule.value(values);
    } catch (const RuleError& error) {
      fail(error.what());
    }
    if (number < lowest || number > highest)
      fail(fmt::format("its value is {}, which must be from {} to {}", number, lowest, highest));
    return number;
  }
};

// A macro's text: literal parts, and rules in between.
struct MacroText {
  std::string name;
  std::vector<std::string> literals;  // one more than rules
  std::vector<PlacedRule> rules;

  std::string text(std::span<const RuleValue> values) const {
    std::string all = literals.front();
    for (size_t i = 0; i < rules.size(); ++i)
      all += std::to_string(rules[i].value(values, 0, std::numeric_limits<int64_t>::max())) + literals[i + 1];
    return all;
  }
};

struct FileStep {
  std::string name, file, entry;
  std::vector<MacroText> macros;
  PlacedRule threads, smem;
  std::array<PlacedRule, 3> grid;
  bool timed;
};

struct FileOperand {
  std::string name;
  Dtype dtype;
  Init init;
  PlacedRule batch, heads, rows, cols;
};

struct FileVariant {
  std::string origin, fingerprint, name, idea, needs;
  VariantSupports supports;
  TileChoice tile;
  std::vector<FileOperand> workspace;
  std::vector<FileStep> steps;
};

PlacedRule read_rule(const JsonPart& part, std::string place, bool with_sms) {
  const std::vector<std::string_view> names = rule_names(with_sms);
  if (!part.is_string()) return {std::move(place), Rule(part.integer(0, int64_t{1} << 40))};
  const std::string text = part.text();
  try {
    return {std::move(place), Rule(text, names)};
  } catch (const RuleError& error) {
    part.refuse(fmt::format("'{}' is no rule: {}", text, error.what()));
  }
}

PlacedRule read_rule_or(const JsonPart& parent, std::string_view key, const std::string& place,
                        int64_t number, bool with_sms) {
  if (parent.has(key)) return read_rule(parent.at(key), place, with_sms);
  return {place, Rule(number)};
}

// "text {rule} text"; a number is its own text.
MacroText read_macro(const std::string& name, const JsonPart& part) {
  MacroText macro{.name = name, .literals = {""}, .rules = {}};
  if (!part.is_string()) {
    macro.literals.front() =
        std::to_string(part.integer(std::numeric_limits<int32_t>::min(), int64_t{1} << 40));
    return macro;
  }
  const std::string text = part.text();
  const std::vector<std::string_view> names = rule_names(true);
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      macro.literals.back() += text[at];
      continue;
    }
    const size_t end = text.find('}', at);
    if (end == std::string::npos) part.refuse("a '{' has no '}'");
    try {
      macro.rules.push_back({"macro " + name, Rule(text.substr(at + 1, end - at - 1), names)});
    } catch (const RuleError& error) {
      part.refuse(fmt::format("'{}' is no rule: {}", text.substr(at + 1, end - at - 1), error.what()));
    }
    macro.literals.emplace_back();
    at = end;
  }
  return macro;
}

std::vector<MacroText> read_macros(const JsonPart& part) {
  std::vector<MacroText> macros;
  const auto usual = kernel_macros({}, 0, 0);
  for (const std::string& name : part.keys()) {
    const JsonPart value = part.at(name);
    if (std::ranges::find(usual, name, [](const auto& macro) { return macro.first; }) != usual.end())
      value.refuse("is defined for every kernel already; leave it out");
    if (name.empty() ||
        !std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; }) ||
        std::isdigit(static_cast<unsigned char>(name.front())))
      value.refuse("the macro's name must be one of C (letters, digits, _)");
    macros.push_back(read_macro(name, value));
  }
  return macros;
}

std::string read_source(const JsonPart& part, const fs::path& folder) {
  const fs::path path = folder / part.text();
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    part.refuse(
        fmt::format("there is no file {}; the name is relative to the folder of the JSON", path.string()));
  return fs::canonical(path).string();
}

FileStep read_step(const JsonPart& part, const fs::path& folder) {
  part.expect_keys({"name", "file", "entry", "macros", "threads", "grid", "smem_bytes", "timed"});
  const std::string entry = part.at("entry").identifier();
  const std::string name = part.has("name") ? part.at("name").text() : entry;
  const auto place = [&](const char* field) { return fmt::format("{} of step {}", field, name); };
  const JsonPart grid = part.at("grid");
  const std::vector<JsonPart> sides = grid.elements();
  if (sides.size() > 3) grid.refuse("a grid has at most three sides");
  const auto side = [&](size_t i) {
    const std::string where = place(fmt::format("grid[{}]", i).c_str());
    return i < sides.size() ? read_rule(sides[i], where, true) : PlacedRule{where, Rule(1)};
  };
  return {.name = name,
          .file = read_source(part.at("file"), folder),
          .entry = entry,
          .macros = part.has("macros") ? read_macros(part.at("macros")) : std::vector<MacroText>{},
          .threads = read_rule(part.at("threads"), place("threads"), true),
          .smem = read_rule_or(part, "smem_bytes", place("smem_bytes"), 0, true),
          .grid = {side(0), side(1), side(2)},
          .timed = !part.has("timed") || part.at("timed").boolean()};
}

std::vector<FileStep> read_steps(const JsonPart& part, const fs::path& folder) {
  std::vector<FileStep> steps;
  for (const JsonPart& element : part.elements()) steps.push_back(read_step(element, folder));
  if (steps.size() > most_steps) part.refuse(fmt::format("a variant has at most {} steps", most_steps));
  if (std::ranges::none_of(steps, &FileStep::timed)) part.refuse("one step at least must be timed");
  return steps;
}

FileOperand read_operand(const JsonPart& part) {
  part.expect_keys({"name", "dtype", "batch", "heads", "rows", "cols", "init"});
  const std::string name = part.at("name").text();
  const auto rule = [&](const char* side) {
    return read_rule_or(part, side, fmt::format("{} of workspace {}", side, name), 1, false);
  };
  const bool zero = part.has("init") && part.at("init").word({"poison", "zero"}) == "zero";
  part.at("cols");  // a workspace of nothing is a mistake
  return {.name = name,
          .dtype = *parse_dtype(part.at("dtype").word({"fp32", "fp16", "bf16", "fp8"})),
          .init = zero ? Init::zero : Init::poison,
          .batch = rule("batch"),
          .heads = rule("heads"),
          .rows = rule("rows"),
          .cols = rule("cols")};
}

std::vector<FileOperand> read_workspace(const JsonPart& part) {
  std::vector<FileOperand> workspace;
  for (const JsonPart& element : part.elements()) workspace.push_back(read_operand(element));
  if (workspace.size() > most_workspaces)
    part.refuse(fmt::format("a variant has at most {} workspaces", most_workspaces));
  return workspace;
}

TileChoice read_tile(const JsonPart& part) {
  part.expect_keys({"br", "bc", "why"});
  return {{static_cast<int>(part.at("br").integer(1, largest_side)),
           static_cast<int>(part.at("bc").integer(1, largest_side))},
          part.has("why") ? part.at("why").text() : "as its file says"};
}

std::string read_name(const JsonPart& part) {
  std::string name = part.text();
  if (!is_variant_name(name))
    part.refuse(
        fmt::format("'{}' is no name of a variant: a small letter, then small letters, digits, '_' and '-', "
                    "{} at most",
                    name, longest_name));
  return name;
}

std::string whole_text(const std::string& file) {
  std::error_code error;
  std::ifstream stream(file, std::ios::binary);
  if (!fs::is_regular_file(file, error) || !stream)
    throw UsageError(fmt::format("--variant-file {}: cannot be read; give a JSON file", file));
  if (fs::file_size(file, error) > largest_file)
    throw UsageError(
        fmt::format("--variant-file {}: is larger than {} bytes, so no variant file", file, largest_file));
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::shared_ptr<const FileVariant> read_file(const std::string& file) {
  const std::string text = whole_text(file);
  const fs::path folder = fs::absolute(file).parent_path();
  JsonPart::Json root;
  const JsonPart part = JsonPart::parse(file, text, root);
  part.expect_keys({"attnprof_variant", "name", "idea", "supports", "tile", "workspace", "steps"});
  part.at("attnprof_variant").integer(1, 1);
  const JsonPart name = part.at("name"), idea = part.at("idea");
  FileVariant variant{
      .origin = fs::absolute(file).lexically_normal().string(),
      .fingerprint = content_hash(text),
      .name = read_name(name),
      .idea = idea.text(),
      .needs = "",
      .supports = VariantSupports(part.at("supports")),
      .tile = part.has("tile") ? read_tile(part.at("tile")) : TileChoice{{}, "it has no tile"},
      .workspace = part.has("workspace") ? read_workspace(part.at("workspace")) : std::vector<FileOperand>{},
      .steps = read_steps(part.at("steps"), folder)};
  if (!variant.supports.tiles().empty() && variant.tile.tile.br == 0)
    part.refuse("supports.tiles needs a default: key 'tile' is missing");
  variant.needs = variant.supports.sentence();
  return std::make_shared<const FileVariant>(std::move(variant));
}

std::vector<Operand> workspace_of(const FileVariant& variant, const Problem& p, const Tile& tile) {
  constexpr int64_t most = int64_t{1} << 40;
  const std::vector<RuleValue> values = rule_values(p, tile, 0);
  std::vector<Operand> all;
  for (const FileOperand& each : variant.workspace) {
    const int64_t cols = each.cols.value(values, 1, most);
    all.push_back({.name = each.name,
                   .role = Role::workspace,
                   .init = each.init,
                   .dtype = each.dtype,
                   .batch = each.batch.value(values, 1, most),
                   .heads = each.heads.value(values, 1, most),
                   .rows = each.rows.value(values, 1, most),
                   .cols = cols,
                   .row_pitch = cols});
    const Operand& o = all.back();
    int64_t bytes = bytes_per_element(o.dtype);
    for (const int64_t side : {o.batch, o.heads, o.rows, o.cols})
      if (__builtin_mul_overflow(bytes, side, &bytes) || bytes > int64_t{1} << 50)
        throw RuleError(fmt::format("workspace {} of {} x {} x {} x {} elements is absurdly large", each.name,
                                    o.batch, o.heads, o.rows, o.cols));
  }
  return all;
}

KernelLaunch launch_of(const FileStep& step, const Problem& p, const Tile& tile,
                       const DeviceProfile& device) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  const std::vector<RuleValue> values = rule_values(p, tile, device.sms);
  KernelLaunch kernel;
  kernel.file = step.file, kernel.entry = step.entry;
  kernel.macros = kernel_macros(p, tile.br, tile.bc);
  for (const MacroText& macro : step.macros) kernel.macros.emplace_back(macro.name, macro.text(values));
  kernel.grid = {step.grid[0].value(values, 1, int64_t{1} << 40),
                 step.grid[1].value(values, 1, int64_t{1} << 40),
                 step.grid[2].value(values, 1, int64_t{1} << 40)};
  kernel.threads = static_cast<int>(step.threads.value(values, 1, most));
  kernel.smem_bytes = step.smem.value(values, 0, most);
  return kernel;
}

std::vector<Step> steps_of(const FileVariant& variant, const Problem& p, const Tile& tile,
                           const DeviceProfile& device) {
  std::vector<Step> steps;
  for (const FileStep& step : variant.steps)
    steps.push_back({step.name, launch_of(step, p, tile, device), Schedule{}, step.timed});
  return steps;
}

std::optional<std::string> why_unsupported(const FileVariant& variant, const Problem& p, const Tile& tile,
                                           const DeviceProfile& device) {
  const bool has_tile = variant.tile.tile.br > 0;
  if (!has_tile && tile != Tile{}) return fmt::format("{} takes no tile: its file has none", variant.name);
  if (has_tile && (tile.br < 1 || tile.bc < 1))
    return fmt::format("{} takes tiles of at least 1x1, not {}x{}", variant.name, tile.br, tile.bc);
  if (p.head_dim > most_head_dim)
    return fmt::format("{} cannot be verified above head_dim = {}, and {} is asked for", variant.name,
                       most_head_dim, p.head_dim);
  if (auto reason = variant.supports.reason(variant.name, p, tile, device)) return reason;
  try {
    workspace_of(variant, p, tile);
    steps_of(variant, p, tile, device);
  } catch (const RuleError& error) {
    return fmt::format("{}: {}", variant.name, error.what());
  }
  return std::nullopt;
}

}  // namespace

bool is_variant_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= longest_name && small(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return small(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

Variant load_variant_file(const std::string& file) {
  const std::shared_ptr<const FileVariant> v = read_file(file);
  Variant variant;
  variant.name = v->name, variant.idea = v->idea, variant.needs = v->needs;
  variant.origin = v->origin, variant.fingerprint = v->fingerprint;
  variant.tile_step = 1;
  variant.unsupported = [v](const Problem& p, const Tile& tile, const DeviceProfile& device) {
    return why_unsupported(*v, p, tile, device);
  };
  variant.default_tile = [v](const Problem&, const DeviceProfile&) { return v->tile; };
  variant.workspace = [v](const Problem& p, const Tile& tile) { return workspace_of(*v, p, tile); };
  variant.steps = [v](const Problem& p, const Tile& tile, const DeviceProfile& device) {
    return steps_of(*v, p, tile, device);
  };
  if (!v->supports.tiles().empty())
    variant.candidates = [v](const Problem&, const DeviceProfile&) { return v->supports.tiles(); };
  return variant;
}

}  // namespace attnprof
