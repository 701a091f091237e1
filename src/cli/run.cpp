#include "cli/run.hpp"

#include <fmt/format.h>

#include <new>

#include "cli/commands.hpp"

namespace attnprof {
namespace {

struct RunCommand {
  const BackendOpener& open;

  int operator()(const ShowText& show) const {
    fmt::print("{}", show.text);
    return 0;
  }
  int operator()(const SweepOptions& options) const {
    return static_cast<int>(options.dry_run ? dry_run_command(options, open) : sweep_command(options, open));
  }
  int operator()(const ListOptions& options) const { return static_cast<int>(list_command(options)); }
  int operator()(const CompileCommand& options) const { return static_cast<int>(compile_command(options)); }
  int operator()(const DoctorCommand&) const { throw EnvironmentError("doctor is not built in"); }
  int operator()(const WorkerCommand&) const { throw EnvironmentError("worker is not built in"); }
};

int complain(const std::string& sentence, ExitCode code) {
  std::fflush(stdout);
  fmt::print(stderr, "attnprof: {}\n", sentence);
  return static_cast<int>(code);
}

}  // namespace

int run_command_line(const std::vector<std::string>& args, const BackendOpener& open) {
  try {
    return std::visit(RunCommand{open}, parse_command_line(args));
  } catch (const Error& error) {
    return complain(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return complain("the host's memory is not enough; give a smaller plan", ExitCode::environment);
  } catch (const std::exception& error) {
    return complain(fmt::format("a fault of attnprof itself, please report it: {}", error.what()),
                    ExitCode::failed);
  }
}

}  // namespace attnprof
