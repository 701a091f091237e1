#include "cli/run.hpp"
#include "version.hpp"

#include <fmt/format.h>

namespace attnprof {

int run_command_line(int, char**) {
  fmt::print("attnprof {}\n", tool_version());
  return 0;
}

}  // namespace attnprof
