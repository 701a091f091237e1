#include "base/safe_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace attnprof {
namespace {

using Byte = unsigned char;

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

// The first byte's length, and the range that Unicode allows for the second.
struct Lead {
  size_t length;
  Byte low = 0x80, high = 0xBF;
};

Lead lead_of(Byte c) {
  if (c < 0x80) return {1};
  if (c < 0xC2) return {0};
  if (c < 0xE0) return {2};
  if (c < 0xF0) return {3, c == 0xE0 ? Byte{0xA0} : Byte{0x80}, c == 0xED ? Byte{0x9F} : Byte{0xBF}};
  if (c < 0xF5) return {4, c == 0xF0 ? Byte{0x90} : Byte{0x80}, c == 0xF4 ? Byte{0x8F} : Byte{0xBF}};
  return {0};
}

// Of a whole character.
unsigned code_point(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<Byte>(character[i]); };
  if (character.size() == 1) return byte(0);
  unsigned code = byte(0) & (0xFFu >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  return code;
}

bool is_between(unsigned code, unsigned low, unsigned high) { return low <= code && code <= high; }

bool is_unsafe(unsigned code) {
  return code < 0x20 || is_between(code, 0x7F, 0x9F) ||        // C0, DEL, C1
         code == 0x61C || is_between(code, 0x200E, 0x200F) ||  // marks of direction
         is_between(code, 0x2028, 0x202E) ||                   // line separators; overrides
         is_between(code, 0x2066, 0x2069) || code == 0xFEFF;   // isolates; an invisible mark
}

std::string escape(unsigned code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

// "\x1b[31m" and the like at the start: it colours, and no more.
size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

struct Kept {
  bool lines = false, colours = false;
};

std::string escaped(std::string_view text, Kept kept) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t colour = kept.colours ? colour_length(text) : 0, length = utf8_length(text);
    const size_t step = std::max({colour, length, size_t{1}});
    const unsigned code = length > 0 ? code_point(text.substr(0, length)) : 0;
    const bool keep = colour > 0 || (kept.lines && (code == '\n' || code == '\t')) || !is_unsafe(code);
    if (length == 0)
      result += fmt::format("\\x{:02x}", static_cast<Byte>(text.front()));
    else if (keep)
      result += text.substr(0, step);
    else
      result += escape(code);
    text.remove_prefix(step);
  }
  return result;
}

}  // namespace

size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = lead_of(static_cast<Byte>(text.front()));
  if (lead.length > text.size()) return 0;
  for (size_t i = 1; i < lead.length; ++i) {
    const Byte c = static_cast<Byte>(text[i]);
    if (c < (i == 1 ? lead.low : 0x80) || c > (i == 1 ? lead.high : 0xBF)) return 0;
  }
  return lead.length;
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    result += length > 0 ? text.substr(0, length) : replacement;
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

std::string_view utf8_prefix(std::string_view text, size_t size) {
  if (text.size() <= size) return text;
  for (size_t back = 1; back <= 3 && back <= size; ++back)
    if (const size_t begin = size - back; utf8_length(text.substr(begin)) > back)
      return text.substr(0, begin);
  return text.substr(0, size);
}

std::string printable(std::string_view text) { return escaped(text, {}); }

std::string printable_lines(std::string_view text) { return escaped(text, {.lines = true}); }

std::string terminal_text(std::string_view text) { return escaped(text, {.lines = true, .colours = true}); }

}  // namespace attnprof
