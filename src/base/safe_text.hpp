// Text of users and files, made safe for where it is shown: no byte of it commands a terminal, hides what it
// says, or breaks the encoding of a file.
#pragma once

#include <string>
#include <string_view>

namespace attnprof {

// The length of the UTF-8 character that `text` begins with; 0 where it begins with none.
size_t utf8_length(std::string_view text);

// Every byte that is no UTF-8 as U+FFFD.
std::string valid_utf8(std::string_view text);

// At most `size` bytes of it, without half a character at the end.
std::string_view utf8_prefix(std::string_view text, size_t size);

// One line for people: control characters (C0, DEL, C1), line separators, marks that turn the direction of
// writing, and bytes that are no UTF-8, as escapes: \n, \x1b, \u202e.
std::string printable(std::string_view text);

// Several: the same, but for line ends and tabs.
std::string printable_lines(std::string_view text);

// For a terminal: the same, but for the colours that attnprof itself sets in it.
std::string terminal_text(std::string_view text);

}  // namespace attnprof
