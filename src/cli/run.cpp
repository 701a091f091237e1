#include "cli/run.hpp"

#include <fmt/format.h>

namespace attnprof {

int run_command_line(int, char**) {
  fmt::print("attnprof " ATTNPROF_VERSION "\n");
  return 0;
}

}  // namespace attnprof
