// What --help prints, never wider than 80 characters.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace attnprof {

// Its description, usage, options by group with what they are by default, commands beneath it, and its
// footer. In footers and descriptions lines that begin with a space, and titles, which end in a colon, stay
// as they are; what stands between is filled.
std::string help_text(const CLI::App& app);

}  // namespace attnprof
