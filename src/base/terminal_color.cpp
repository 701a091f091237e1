#include "base/terminal_color.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace attnprof {
namespace {

fmt::text_style style_of(Tone tone) {
  switch (tone) {
    case Tone::bad:
      return fmt::fg(fmt::terminal_color::red);
    case Tone::good:
      return fmt::fg(fmt::terminal_color::green);
    case Tone::doubtful:
      return fmt::fg(fmt::terminal_color::yellow);
    case Tone::strong:
      return fmt::emphasis::bold;
    case Tone::plain:
      break;
  }
  return {};
}

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

bool wants_color(FILE* stream) {
  const std::string_view terminal = variable("TERM");
  return isatty(fileno(stream)) && variable("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
}

std::string toned(Tone tone, std::string_view text, bool color) {
  return color && tone != Tone::plain ? fmt::format(style_of(tone), "{}", text) : std::string(text);
}

}  // namespace attnprof
