// Words of a command line that is printed for people to copy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// `text` as one word of a shell: quoted where it must be. Control characters become the escapes of $'...',
// which bash, zsh and ksh read, so that the word is safe to show.
std::string shell_word(std::string_view text);

// The same of a file's name, which no program takes for an option.
std::string shell_file(std::string_view path);

// All, with spaces between.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace attnprof
