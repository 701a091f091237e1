#include "base/signal_end.hpp"
#include "cli/run.hpp"

int main(int argc, char** argv) {
  attnprof::end_well_on_signals();
  return attnprof::run_command_line({argv + 1, argv + argc});
}
