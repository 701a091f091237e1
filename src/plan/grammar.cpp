#include "plan/grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace attnprof {
namespace {

constexpr std::string_view count_grammar = "give one number such as 2048 or 16k, where k is 1024";
constexpr std::string_view axis_grammar =
    "give a list of numbers and ranges such as 512,1k or 512:4k:512 (lo:hi:step) or 512:16k:x2 "
    "(lo:hi:xFACTOR), where k is 1024";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// What is being read, for the sentence of an error.
struct Reader {
  std::string_view option;
  std::string_view text;  // as given
  std::string_view item;  // the entry of it
  std::string_view grammar = axis_grammar;
  int64_t lowest = 1;

  [[noreturn]] void refuse(std::string_view why) const {
    throw UsageError(fmt::format("{} '{}': {}; {}", option, text, why, grammar));
  }

  // A whole number without sign; nothing if it has none or other characters. Too large is refused.
  std::optional<int64_t> digits(std::string_view word) const {
    if (word.empty() || !std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    int64_t value = 0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc{}) refuse(fmt::format("{} does not fit 64 bits", word));
    return value;
  }

  int64_t number(std::string_view word) const {
    if (word.empty()) refuse("a number is missing");
    if (word.front() == '-') refuse(fmt::format("{} is negative", word));
    const bool kilo = word.back() == 'k' || word.back() == 'K';
    const auto value = digits(kilo ? word.substr(0, word.size() - 1) : word);
    if (!value) refuse(fmt::format("'{}' is not a whole number", word));
    if (*value < lowest) refuse("0 is not a size");
    const int64_t largest = kilo ? largest_axis_value / 1024 : largest_axis_value;
    if (*value > largest) refuse(fmt::format("{} is above the limit of {}", word, largest_axis_value));
    return kilo ? *value * 1024 : *value;
  }

  int64_t factor(std::string_view word) const {
    const auto value = digits(word);
    if (!value) refuse(fmt::format("the factor '{}' is not a whole number", word));
    if (*value < 2) refuse(fmt::format("a factor of {} never gets from lo to hi", *value));
    return std::min(*value, largest_axis_value + 1);
  }

  std::vector<int64_t> range(const std::vector<std::string_view>& parts) const {
    if (parts.size() != 3) refuse("a range has three parts");
    const int64_t low = number(parts[0]), high = number(parts[1]);
    if (low > high) refuse(fmt::format("the range is reversed, {} > {}", low, high));
    const std::string_view stride = parts[2];
    const bool multiply = !stride.empty() && (stride.front() == 'x' || stride.front() == '*');
    if (stride == "0") refuse("a step of 0 never gets from lo to hi");
    if (multiply && low == 0) refuse("0 times a factor stays 0");
    const int64_t by = multiply ? factor(stride.substr(1)) : number(stride);
    std::vector<int64_t> values;
    for (int64_t value = low; value <= high; value = multiply ? value * by : value + by) {
      if (values.size() == most_axis_values) refuse(fmt::format("it has over {} values", most_axis_values));
      values.push_back(value);
    }
    return values;
  }

  std::vector<int64_t> values() const {
    if (item.empty()) refuse("an entry of the list is empty");
    const auto parts = split(item, ':');
    return parts.size() == 1 ? std::vector{number(item)} : range(parts);
  }
};

}  // namespace

std::vector<int64_t> parse_axis(std::string_view option, const std::vector<std::string>& texts,
                                int64_t lowest) {
  std::vector<int64_t> all;
  for (const std::string& text : texts)
    for (std::string_view item : split(text, ','))
      for (int64_t value : Reader{option, text, item, axis_grammar, lowest}.values())
        if (std::ranges::find(all, value) == all.end()) all.push_back(value);
  return all;
}

int64_t parse_count(std::string_view option, std::string_view text) {
  return Reader{option, text, text, count_grammar}.number(text);
}

std::vector<std::string> parse_words(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts)
    for (std::string_view word : split(text, ',')) {
      if (word.empty())
        throw UsageError(fmt::format("{} '{}': an entry of the list is empty; give words with commas between",
                                     option, text));
      if (std::ranges::find(all, word) == all.end()) all.emplace_back(word);
    }
  return all;
}

double parse_percent(std::string_view option, std::string_view text) {
  constexpr std::array units = {UnitSuffix{"%", 0.01}};
  const double value = parse_quantity(text, units).value_or(0);
  if (value <= 0 || value > 1)
    throw UsageError(
        fmt::format("{} '{}': give a percentage above 0% and up to 100%, such as 0.5%", option, text));
  return value;
}

double parse_seconds(std::string_view option, std::string_view text) {
  constexpr std::array units = {UnitSuffix{"s", 1}, UnitSuffix{"ms", 1e-3}, UnitSuffix{"us", 1e-6},
                                UnitSuffix{"min", 60}};
  constexpr double day = 86400;
  const double value = parse_quantity(text, units).value_or(0);
  if (value <= 0 || value > day)
    throw UsageError(fmt::format(
        "{} '{}': give a time above 0 and up to a day with its unit us, ms, s or min, such as 0.5s", option,
        text));
  return value;
}

}  // namespace attnprof
