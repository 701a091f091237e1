#include "plugin/variant_supports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attnprof {
namespace {

constexpr int64_t largest_size = int64_t{1} << 40;
constexpr int64_t largest_side = 1 << 16;
constexpr std::array<std::string_view, 9> sizes = {"batch",  "heads",    "kv_heads", "group", "q_len",
                                                   "kv_len", "head_dim", "br",       "bc"};

template <class Range>
std::string joined(const Range& range) {
  return fmt::format("{}", fmt::join(range, ", "));
}

template <class Value>
std::string names_of(const std::vector<Value>& values) {
  std::vector<std::string_view> names;
  for (const Value& value : values) names.push_back(to_string(value));
  return joined(names);
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
  std::vector<std::string_view> names(sizes.begin(), sizes.end());
  names.insert(names.end(), {"element_bytes", "causal"});
  if (with_sms) names.push_back("sms");
  return names;
}

std::vector<RuleValue> rule_values(const Problem& p, const Tile& tile, int sms) {
  return {{"batch", p.batch},
          {"heads", p.heads},
          {"kv_heads", p.kv_heads},
          {"group", p.group()},
          {"q_len", p.q_len},
          {"kv_len", p.kv_len},
          {"head_dim", p.head_dim},
          {"br", tile.br},
          {"bc", tile.bc},
          {"element_bytes", bytes_per_element(p.dtype)},
          {"causal", p.mask == Mask::causal ? 1 : 0},
          {"sms", sms}};
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
    tiles_.push_back({static_cast<int>(sides[0].integer(1, largest_side)),
                      static_cast<int>(sides[1].integer(1, largest_side))});
  }
}

VariantSupports::VariantSupports(const JsonPart& part) {
  part.expect_keys({"dtypes", "masks", "archs", "tiles", "batch", "heads", "kv_heads", "group", "q_len",
                    "kv_len", "head_dim", "br", "bc"});
  for (const JsonPart& each : part.at("dtypes").elements())
    dtypes_.push_back(*parse_dtype(each.word({"fp32", "fp16", "bf16", "fp8"})));
  if (part.has("masks")) {
    masks_.clear();
    for (const JsonPart& each : part.at("masks").elements())
      masks_.push_back(*parse_mask(each.word({"full", "causal"})));
  }
  if (part.has("archs"))
    for (const JsonPart& each : part.at("archs").elements()) archs_.push_back(arch_of(each));
  if (part.has("tiles")) read_tiles(part.at("tiles"));
  for (const std::string_view size : sizes)
    if (part.has(size)) limits_.push_back(limit_of(std::string(size), part.at(size)));
}

std::optional<std::string> VariantSupports::reason(std::string_view name, const Problem& p, const Tile& tile,
                                                   const DeviceProfile& device) const {
  const auto refuse = [&](std::string_view what, const std::string& takes, std::string_view asked) {
    return fmt::format("{} takes {} {}, not {}", name, what, takes, asked);
  };
  if (!archs_.empty() && std::ranges::find(archs_, device.arch) == archs_.end())
    return refuse("devices of", joined(archs_), fmt::format("{} ({})", device.arch, device.name));
  if (std::ranges::find(dtypes_, p.dtype) == dtypes_.end())
    return refuse("dtype", names_of(dtypes_), to_string(p.dtype));
  if (std::ranges::find(masks_, p.mask) == masks_.end())
    return refuse("mask", names_of(masks_), to_string(p.mask));
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
  text += names_of(dtypes_);
  if (masks_.size() == 1) text += fmt::format("; mask {}", to_string(masks_.front()));
  for (const Limit& limit : limits_) text += fmt::format("; {} {}", limit.size, limit.text());
  if (!tiles_.empty()) text += "; tile " + texts_of(tiles_);
  return text;
}

}  // namespace attnprof
