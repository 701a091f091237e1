// Colour on a terminal: when it is wanted, and what each means, the same in every command.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace attnprof {

enum class Tone {
  plain,
  bad,       // red: a regression, something that is missing
  good,      // green: a gain, something that is there
  doubtful,  // yellow: ambiguous, a warning
  strong,    // bold: a heading
};

// `stream` is a terminal that shows colour (TERM is set and not `dumb`), and NO_COLOR is not set
// (https://no-color.org: or empty).
bool wants_color(FILE* stream);

// `text` in that tone where `color`, as it is otherwise. The text is safe for people already.
std::string toned(Tone tone, std::string_view text, bool color);

}  // namespace attnprof
