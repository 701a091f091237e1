#include "base/json_part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/json_names.hpp"

namespace attnprof {
namespace {

constexpr size_t longest_shown = 60;

bool is_identifier(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

void JsonPart::refuse_in_line_of(const std::string& path, const std::string& what) const {
  const auto line = document_->lines.find(path);
  const std::string where = line == document_->lines.end() ? "" : fmt::format(", line {}", line->second);
  throw UsageError(
      fmt::format("{}{}: {}{}{}", document_->file, where, path_, path_.empty() ? "" : ": ", what));
}

void JsonPart::refuse(const std::string& what) const { refuse_in_line_of(path_, what); }

std::string JsonPart::shown() const {
  std::string text = value_->dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > longest_shown) text = text.substr(0, longest_shown) + "...";
  return text;
}

bool JsonPart::has(std::string_view key) const { return value_->is_object() && value_->contains(key); }

JsonPart JsonPart::at(std::string_view key) const {
  if (!value_->is_object()) refuse(fmt::format("must be an object, not {}", shown()));
  if (!value_->contains(key)) refuse(fmt::format("key '{}' is missing", key));
  return {*document_, path_of_key(path_, key), value_->at(std::string(key))};
}

void JsonPart::expect_keys(std::span<const std::string_view> known) const {
  if (!value_->is_object()) refuse(fmt::format("must be an object, not {}", shown()));
  for (const auto& [key, value] : value_->items())
    if (std::ranges::find(known, key) == known.end())
      refuse_in_line_of(path_of_key(path_, key),
                        fmt::format("key '{}' is none of {}", key, fmt::join(known, ", ")));
}

std::vector<std::string> JsonPart::keys() const {
  if (!value_->is_object()) refuse(fmt::format("must be an object, not {}", shown()));
  std::vector<std::string> all;
  for (const auto& [key, value] : value_->items()) all.push_back(key);
  return all;
}

std::vector<JsonPart> JsonPart::elements() const {
  if (!value_->is_array() || value_->empty())
    refuse(fmt::format("must be a list with at least one element, not {}", shown()));
  std::vector<JsonPart> all;
  for (size_t i = 0; i < value_->size(); ++i)
    all.push_back({*document_, path_of_element(path_, i), (*value_)[i]});
  return all;
}

std::string JsonPart::text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty())
    refuse(fmt::format("must be a text that is not empty, not {}", shown()));
  std::string text = value_->get<std::string>();
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(text, control)) refuse("must be one line without control characters");
  return text;
}

bool JsonPart::boolean() const {
  if (!value_->is_boolean()) refuse(fmt::format("must be true or false, not {}", shown()));
  return value_->get<bool>();
}

int64_t JsonPart::integer(int64_t low, int64_t high) const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() || value_->get<uint64_t>() <= uint64_t{1} << 62);
  if (!fits || value_->get<int64_t>() < low || value_->get<int64_t>() > high)
    refuse(fmt::format("must be a whole number from {} to {}, not {}", low, high, shown()));
  return value_->get<int64_t>();
}

std::string JsonPart::word(std::span<const std::string_view> known) const {
  const std::string word = value_->is_string() ? value_->get<std::string>() : "";
  if (std::ranges::find(known, word) == known.end())
    refuse(fmt::format("must be one of {}, not {}", fmt::join(known, ", "), shown()));
  return word;
}

std::string JsonPart::identifier() const {
  std::string name = text();
  if (!is_identifier(name)) refuse(fmt::format("must be a name of C (letters, digits, _), not {}", shown()));
  return name;
}

}  // namespace attnprof
