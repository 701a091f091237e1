#include "cli/run.hpp"

int main(int argc, char** argv) { return attnprof::run_command_line({argv + 1, argv + argc}); }
