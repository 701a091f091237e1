#include "schedule/macro_grammar.hpp"

#include <algorithm>

namespace attnprof {
namespace {

constexpr size_t longest_name = 64, longest_value = 200;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_macro_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && !is_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool is_part_of_macro_value(std::string_view text) {
  constexpr std::string_view signs = " _.:+-*%<>=()";  // no comma, slash, quote or anything of the shell's
  return text.size() <= longest_value && std::ranges::all_of(text, [&](char c) {
           return is_letter(c) || is_digit(c) || signs.find(c) != std::string_view::npos;
         });
}

bool is_macro_value(std::string_view text) { return !text.empty() && is_part_of_macro_value(text); }

}  // namespace attnprof
