// What a kernel's macros may be called and say. nvcc hands its command line to a shell, in which `$(...)` or
// a backtick in a variant file would run a program, and splits its -D at commas.
#pragma once

#include <string_view>

namespace attnprof {

// A name of C, up to 64 characters.
bool is_macro_name(std::string_view text);

// One to 200 characters of macro_value_characters.
bool is_macro_value(std::string_view text);
// The same of a part of a value, which may be empty.
bool is_part_of_macro_value(std::string_view text);

inline constexpr const char* macro_value_characters = "letters, digits, spaces and _ . : + - * % < > = ( )";

}  // namespace attnprof
