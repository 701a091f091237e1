// Reads variant files.
#include "plugin/variant_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json_part.hpp"
#include "plugin/variant_file.hpp"
#include "schedule/macro_grammar.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace fs = std::filesystem;

int64_t FieldRule::value(std::span<const RuleValue> values, int64_t lowest, int64_t highest) const {
  const auto fail = [this](const std::string& why) {
    throw RuleError(fmt::format("{}, '{}': {}", field, rule.text(), why));
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

std::string MacroText::text(std::span<const RuleValue> values) const {
  std::string all = literals.front();
  for (size_t i = 0; i < rules.size(); ++i)
    all += std::to_string(rules[i].value(values, 0, std::numeric_limits<int64_t>::max())) + literals[i + 1];
  if (!is_macro_value(all)) throw RuleError(fmt::format("macro {}: its text is over 200 characters", name));
  return all;
}

namespace {

constexpr size_t most_steps = 16;
constexpr int64_t most_threads = 1024;  // of a block, on every GPU
constexpr uintmax_t largest_file = 1 << 20;

FieldRule read_rule(const JsonPart& part, std::string field, bool with_sms) {
  const std::vector<std::string_view> names = rule_names(with_sms);
  if (!part.is_string()) return {std::move(field), Rule(part.integer(0, int64_t{1} << 40))};
  const std::string text = part.text();
  try {
    return {std::move(field), Rule(text, names)};
  } catch (const RuleError& error) {
    part.refuse(fmt::format("'{}' is no rule: {}", text, error.what()));
  }
}

FieldRule read_rule_or(const JsonPart& parent, std::string_view key, const std::string& field, int64_t number,
                       bool with_sms) {
  if (parent.has(key)) return read_rule(parent.at(key), field, with_sms);
  return {field, Rule(number)};
}

// A number is held against what a block can have; a rule is when its value is known.
FieldRule read_threads(const JsonPart& part, std::string field) {
  if (!part.is_string()) part.integer(1, most_threads);
  return read_rule(part, std::move(field), true);
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
  if (!std::ranges::all_of(macro.literals, is_part_of_macro_value))
    part.refuse(fmt::format("a macro's text is of {}, 200 at most: nvcc hands it to a shell",
                            macro_value_characters));
  return macro;
}

std::vector<MacroText> read_macros(const JsonPart& part) {
  std::vector<MacroText> macros;
  const auto usual = kernel_macros({}, 0, 0);
  for (const std::string& name : part.keys()) {
    const JsonPart value = part.at(name);
    if (std::ranges::find(usual, name, [](const auto& macro) { return macro.first; }) != usual.end())
      value.refuse("is defined for every kernel already; leave it out");
    if (!is_macro_name(name))
      value.refuse("the macro's name must be one of C (letters, digits, _), 64 at most");
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

StepDescription read_step(const JsonPart& part, const fs::path& folder) {
  part.expect_keys({"name", "file", "entry", "macros", "threads", "grid", "smem_bytes", "timed"});
  const std::string entry = part.at("entry").identifier();
  const std::string name = part.has("name") ? part.at("name").text() : entry;
  const auto field = [&](const std::string& key) { return fmt::format("{} of step {}", key, name); };
  const JsonPart grid = part.at("grid");
  const std::vector<JsonPart> sides = grid.elements();
  if (sides.size() > 3) grid.refuse("a grid has at most three sides");
  const auto side = [&](size_t i) {
    const std::string where = field(fmt::format("grid[{}]", i));
    return i < sides.size() ? read_rule(sides[i], where, true) : FieldRule{where, Rule(1)};
  };
  return {.name = name,
          .file = read_source(part.at("file"), folder),
          .entry = entry,
          .macros = part.has("macros") ? read_macros(part.at("macros")) : std::vector<MacroText>{},
          .threads = read_threads(part.at("threads"), field("threads")),
          .smem = read_rule_or(part, "smem_bytes", field("smem_bytes"), 0, true),
          .grid = {side(0), side(1), side(2)},
          .timed = !part.has("timed") || part.at("timed").boolean()};
}

std::vector<StepDescription> read_steps(const JsonPart& part, const fs::path& folder) {
  std::vector<StepDescription> steps;
  for (const JsonPart& element : part.elements()) steps.push_back(read_step(element, folder));
  if (steps.size() > most_steps) part.refuse(fmt::format("a variant has at most {} steps", most_steps));
  if (std::ranges::none_of(steps, &StepDescription::timed)) part.refuse("one step at least must be timed");
  return steps;
}

OperandDescription read_operand(const JsonPart& part) {
  part.expect_keys({"name", "dtype", "batch", "heads", "rows", "cols", "init"});
  const std::string name = part.at("name").text();
  const auto rule = [&](const char* side) {
    return read_rule_or(part, side, fmt::format("{} of workspace {}", side, name), 1, false);
  };
  const bool zero = part.has("init") && part.at("init").word({"poison", "zero"}) == "zero";
  part.at("cols");  // a workspace of nothing is a mistake
  return {.name = name,
          .dtype = *parse_element_type(part.at("dtype").word({"fp32", "fp16", "bf16", "fp8", "int32"})),
          .init = zero ? Init::zero : Init::poison,
          .batch = rule("batch"),
          .heads = rule("heads"),
          .rows = rule("rows"),
          .cols = rule("cols")};
}

std::vector<OperandDescription> read_workspace(const JsonPart& part) {
  std::vector<OperandDescription> workspace;
  for (const JsonPart& element : part.elements()) workspace.push_back(read_operand(element));
  if (workspace.size() > attention_max_workspaces)
    part.refuse(fmt::format("a variant has at most {} workspaces", attention_max_workspaces));
  return workspace;
}

TileChoice read_tile(const JsonPart& part) {
  part.expect_keys({"br", "bc", "why"});
  return {{static_cast<int>(part.at("br").integer(1, largest_tile_side)),
           static_cast<int>(part.at("bc").integer(1, largest_tile_side))},
          part.has("why") ? part.at("why").text() : "as its file says"};
}

std::string read_name(const JsonPart& part) {
  std::string name = part.text();
  if (!is_variant_name(name))
    part.refuse(
        fmt::format("'{}' is no name of a variant: a small letter, then "
                    "small letters, digits, '_' and '-', {} at most",
                    name, longest_variant_name));
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

}  // namespace

std::shared_ptr<const VariantDescription> read_variant_description(const std::string& file) {
  return parse_variant_description(file, whole_text(file));
}

std::shared_ptr<const VariantDescription> parse_variant_description(const std::string& file,
                                                                    const std::string& text) {
  const fs::path folder = fs::absolute(file).parent_path();
  const JsonDocument document = parse_json(file, text);
  const JsonPart part(document);
  part.expect_keys({"attnprof_variant", "name", "idea", "supports", "tile", "workspace", "steps"});
  part.at("attnprof_variant").integer(1, 1);
  const JsonPart name = part.at("name"), idea = part.at("idea");
  VariantDescription variant{
      .origin = fs::absolute(file).lexically_normal().string(),
      .fingerprint = content_hash(text),
      .name = read_name(name),
      .idea = idea.text(),
      .needs = "",
      .supports = VariantSupports(part.at("supports")),
      .tile = part.has("tile") ? read_tile(part.at("tile")) : TileChoice{{}, "it has no tile"},
      .workspace =
          part.has("workspace") ? read_workspace(part.at("workspace")) : std::vector<OperandDescription>{},
      .steps = read_steps(part.at("steps"), folder)};
  if (!variant.supports.tiles().empty() && variant.tile.tile.br == 0)
    part.refuse("supports.tiles needs a default: key 'tile' is missing");
  if (part.has("tile"))
    if (const auto reason = variant.supports.tile_reason(variant.tile.tile))
      part.at("tile").refuse(fmt::format("the default is none that 'supports' takes: {}", *reason));
  variant.needs = variant.supports.sentence();
  return std::make_shared<const VariantDescription>(std::move(variant));
}
}  // namespace attnprof
