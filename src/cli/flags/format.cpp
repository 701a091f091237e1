#include "cli/flags/format.hpp"

#include "cli/flags/values.hpp"

namespace attnprof {

Format parse_format(const std::string& text, bool markdown) {
  if (markdown)
    return choice<Format>("--format", text,
                          {{"table", Format::table},
                           {"csv", Format::csv},
                           {"json", Format::json},
                           {"markdown", Format::markdown}});
  return choice<Format>("--format", text,
                        {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}});
}

}  // namespace attnprof
