#include "cli/options_trace.hpp"

#include <algorithm>

namespace attnprof {
namespace {

constexpr const char* footer =
    "Counts around every launch of a kernel whose demangled name has a match of --kernel (a POSIX extended\n"
    "expression), within the innermost NVTX push/pop range that has one of --range. A launch is counted in "
    "one\n"
    "pass, and launches of a kernel take turns at what does not fit one: 3 to 5 of them for a whole row. A\n"
    "CUDA graph is one launch. Not counted: NCCL's kernels, which wait for each other, and launches while a\n"
    "graph is captured. The program keeps its streams and its exit code. A counted launch waits for the\n"
    "GPU; one that matches nothing costs the host less than a microsecond (0.5 us on one machine).\n"
    "Child processes are traced too.\n\n"
    "Examples:\n"
    "  attnprof trace --kernel 'flash|fmha' -o out.csv -- python train.py\n"
    "  attnprof trace --range '^attention' --per-name -o out.csv -- python train.py --steps 20\n\n"
    "Exit codes: the program's own where it is not 0 (128 + N where signal N ended it), else 0 all well,\n"
    "2 wrong usage, 3 nothing could be traced, or -o cannot be written.";

bool is_separator(const std::string& arg) { return arg == "--"; }

}  // namespace

std::vector<std::string> before_traced_program(const std::vector<std::string>& args) {
  if (args.empty() || args.front() != "trace") return args;
  return {args.begin(), std::ranges::find_if(args, is_separator)};
}

TraceParser::TraceParser(CLI::App& root)
    : app_(*root.add_subcommand("trace", "Count kernels of any program: attnprof trace ... -- PROGRAM")) {
  app_.footer(footer);
  add_name(app_, "--kernel", command_.kernel, "Kernels to count; without it, all", "REGEX");
  add_name(app_, "--range", command_.range, "NVTX ranges to count in; without it, anywhere", "REGEX");
  app_.add_option("--limit", limit_, "Launches of a kernel and configuration to count, a process; 0: all")
      ->default_str(limit_);
  auto* per_kernel = app_.add_flag("--per-kernel", per_kernel_, "A row a launch (default)");
  app_.add_flag("--per-name", command_.per_name, "A row a kernel and configuration: medians of its launches")
      ->excludes(per_kernel);
  add_name(app_, "-o,--output", command_.output, "CSV to write; FILE.meta.json beside it describes the run",
           "FILE")
      ->required();
  app_.add_flag("--append", append_, "Add a further run to FILE");
  app_.add_flag("--overwrite", overwrite_, "Start FILE again");
}

TraceCommand TraceParser::command(const std::vector<std::string>& args) {
  const auto separator = std::ranges::find_if(args, is_separator);
  if (separator == args.end() || separator + 1 == args.end())
    throw UsageError(
        "trace needs a program to run; give it last, after --: attnprof trace -o FILE -- PROGRAM");
  command_.target.assign(separator + 1, args.end());
  command_.limit = static_cast<int>(whole_number("--limit", limit_, 1'000'000'000));
  refuse_both(append_ && overwrite_, "--append", "--overwrite");
  command_.existing = append_ ? Existing::append : overwrite_ ? Existing::overwrite : Existing::refuse;
  command_.command_line = command_line_of(args);
  return command_;
}

}  // namespace attnprof
