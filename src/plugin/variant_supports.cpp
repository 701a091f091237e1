#include "plugin/variant_supports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problem/passes.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {
namespace {

constexpr int64_t largest_size = int64_t{1} << 40;

// Sizes that a limit may be of: the problem's counts and what follows from them, and the tile's sides.
std::vector<std::string_view> sizes() {
  std::vector<std::string_view> names;
  for (const ProblemField& field : problem_fields()) {
    if (field.is_count()) names.push_back(field.name);
    if (field.name == "kv_heads") names.push_back("group");
  }
  names.insert(names.end(), {"br", "bc"});
  return names;
}

template <class Range>
std::string joined(const Range& range) {
  return fmt::format("{}", fmt::join(range, ", "));
}

std::string text_of(const Tile& tile) { return fmt::format("{}x{}", tile.br, tile.bc); }

std::string texts_of(const std::vector<Tile>& tiles) {
  std::vector<std::string> texts;
  for (const Tile& tile : tiles) texts.push_back(text_of(tile));
  return joined(texts);
}

bool is_of_tile(std::string_view size) { return size == "br" || size == "bc"; }

// "sm_90", "sm_90a", "sm_100f".
bool is_arch(std::string_view text) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return (text.size() == 2 || text.size() == 3) && text.front() != '0' && std::ranges::all_of(text, digit);
}

std::string arch_of(const JsonPart& part) {
  std::string arch = part.text();
  if (!is_arch(arch))
    part.refuse(fmt::format("'{}' is no architecture; write it as nvcc does: sm_80, sm_90a", arch));
  return arch;
}

}  // namespace

std::vector<std::string_view> rule_names(bool with_sms) {
  std::vector<std::string_view> names = sizes();
  names.insert(names.end(), {"element_bytes", "causal"});
  if (with_sms) names.push_back("sms");
  return names;
}

// In the order of rule_names.
std::vector<RuleValue> rule_values(const Problem& p, const Tile& tile, int sms) {
  std::vector<RuleValue> values;
  for (const ProblemField& field : problem_fields()) {
    if (field.is_count()) values.push_back({field.name, p.*field.count});
    if (field.name == "kv_heads") values.push_back({"group", p.group()});
  }
  values.insert(values.end(), {{"br", tile.br},
                               {"bc", tile.bc},
                               {"element_bytes", bytes_per_element(p.dtype)},
                               {"causal", p.mask == Mask::causal ? 1 : 0},
                               {"sms", sms}});
  return values;
}

bool VariantSupports::Limit::takes(int64_t value) const {
  if (!values.empty()) return std::ranges::find(values, value) != values.end();
  return value >= min && value % multiple_of == 0 && (!max || value <= *max);
}

std::string VariantSupports::Limit::text() const {
  if (!values.empty()) return joined(values);
  std::vector<std::string> parts;
  if (multiple_of > 1) parts.push_back(fmt::format("multiple of {}", multiple_of));
  if (min > 0) parts.push_back(fmt::format("from {}", min));
  if (max) parts.push_back(fmt::format("up to {}", *max));
  return fmt::format("{}", fmt::join(parts, " "));
}

VariantSupports::Limit VariantSupports::limit_of(const std::string& size, const JsonPart& part) {
  Limit limit;
  limit.size = size;
  if (part.is_list()) {
    for (const JsonPart& element : part.elements()) limit.values.push_back(element.integer(1, largest_size));
    return limit;
  }
  if (!part.is_object())
    part.refuse(R"(must be an object, {"multiple_of": 16, "max": 128}, or a list of values, [64, 128])");
  part.expect_keys({"multiple_of", "min", "max"});
  if (part.keys().empty()) part.refuse("give multiple_of, min or max, or a list of values");
  if (part.has("multiple_of")) limit.multiple_of = part.at("multiple_of").integer(1, largest_size);
  if (part.has("min")) limit.min = part.at("min").integer(1, largest_size);
  if (part.has("max")) limit.max = part.at("max").integer(1, largest_size);
  if (limit.max && *limit.max < std::max(limit.min, limit.multiple_of))
    part.refuse(fmt::format("no size is {}", limit.text()));
  return limit;
}

void VariantSupports::read_tiles(const JsonPart& part) {
  for (const JsonPart& element : part.elements()) {
    const std::vector<JsonPart> sides = element.elements();
    if (sides.size() != 2) element.refuse("must be two numbers, [br, bc]");
    tiles_.push_back({static_cast<int>(sides[0].integer(1, largest_tile_side)),
                      static_cast<int>(sides[1].integer(1, largest_tile_side))});
  }
}

// Words that a file takes where it lists none: what absence means, else all.
std::vector<std::string> usual_words(const ProblemField& field) {
  if (!field.absent.empty()) return {std::string(field.absent)};
  const auto words = field.words();
  return {words.begin(), words.end()};
}

VariantSupports::Words VariantSupports::words_of(const ProblemField& field, const JsonPart& part) {
  const std::string_view key = field.plural;
  if (!part.has(key) && field.name != "dtype") return {field.name, usual_words(field), false};
  Words words{field.name, {}, true};
  for (const JsonPart& each : part.at(key).elements()) words.values.push_back(each.word(field.words()));
  return words;
}

VariantSupports::VariantSupports(const JsonPart& part) {
  std::vector<std::string_view> keys;
  for (const ProblemField& field : problem_fields())
    if (!field.is_count()) keys.push_back(field.plural);
  keys.insert(keys.end(), {"archs", "tiles"});
  const std::vector<std::string_view> all_sizes = sizes();
  keys.insert(keys.end(), all_sizes.begin(), all_sizes.end());
  part.expect_keys(keys);
  for (const ProblemField& field : problem_fields())
    if (!field.is_count()) words_.push_back(words_of(field, part));
  if (part.has("archs"))
    for (const JsonPart& each : part.at("archs").elements()) archs_.push_back(arch_of(each));
  if (part.has("tiles")) read_tiles(part.at("tiles"));
  for (const std::string_view size : all_sizes)
    if (part.has(size)) limits_.push_back(limit_of(std::string(size), part.at(size)));
}

std::vector<std::string_view> VariantSupports::later_fields() const {
  std::vector<std::string_view> names;
  for (const ProblemField& field : problem_fields()) {
    const auto listed = [&](const Words& words) { return words.field == field.name && words.listed; };
    const auto limited = [&](const Limit& limit) { return limit.size == field.name; };
    if (!field.first_schema && (std::ranges::any_of(words_, listed) || std::ranges::any_of(limits_, limited)))
      names.push_back(field.name);
  }
  return names;
}

std::vector<Pass> VariantSupports::passes() const {
  std::vector<Pass> passes;
  for (const std::string& name : std::ranges::find(words_, "pass", &Words::field)->values)
    passes.push_back(*parse_pass(name));
  return passes;
}

std::optional<std::string> VariantSupports::reason(std::string_view name, const Problem& p, const Tile& tile,
                                                   const DeviceProfile& device) const {
  const auto refuse = [&](std::string_view what, const std::string& takes, std::string_view asked) {
    return fmt::format("{} takes {} {}, not {}", name, what, takes, asked);
  };
  if (!archs_.empty() && std::ranges::find(archs_, device.arch) == archs_.end())
    return refuse("devices of", joined(archs_), fmt::format("{} ({})", device.arch, device.name));
  for (const Words& words : words_)
    if (const std::string asked = find_problem_field(words.field)->text(p);
        std::ranges::find(words.values, asked) == words.values.end())
      return refuse(words.field, joined(words.values), asked);
  if (const auto reason = tile_reason(tile)) return fmt::format("{} takes {}", name, *reason);
  const std::vector<RuleValue> values = rule_values(p, tile, device.sms);
  for (const Limit& limit : limits_) {
    if (is_of_tile(limit.size)) continue;
    const int64_t value = std::ranges::find(values, limit.size, &RuleValue::name)->value;
    if (!limit.takes(value)) return refuse(limit.size, limit.text(), fmt::format("{}", value));
  }
  return std::nullopt;
}

std::optional<std::string> VariantSupports::tile_reason(const Tile& tile) const {
  if (!tiles_.empty() && std::ranges::find(tiles_, Tile{tile.br, tile.bc}) == tiles_.end())
    return fmt::format("tile {}, not {}", texts_of(tiles_), text_of(tile));
  for (const Limit& limit : limits_)
    if (is_of_tile(limit.size))
      if (const int value = limit.size == "br" ? tile.br : tile.bc; !limit.takes(value))
        return fmt::format("{} {}, not {}", limit.size, limit.text(), value);
  return std::nullopt;
}

std::string VariantSupports::sentence() const {
  std::string text = archs_.empty() ? "" : joined(archs_) + "; ";
  for (const Words& words : words_) {
    if (words.field == "dtype")
      text += joined(words.values);
    else if (words.listed && words.values.size() < find_problem_field(words.field)->words().size())
      text += fmt::format("; {} {}", words.field, joined(words.values));
  }
  for (const Limit& limit : limits_) text += fmt::format("; {} {}", limit.size, limit.text());
  if (!tiles_.empty()) text += "; tile " + texts_of(tiles_);
  return text;
}

}  // namespace attnprof
