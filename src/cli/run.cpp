#include "cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <system_error>

#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "base/trusted_path.hpp"
#include "cli/command_line.hpp"

namespace attnprof {
namespace {

int complain(const std::string& sentence, ExitCode code) {
  std::fflush(stdout);
  warn("attnprof: " + sentence);
  return static_cast<int>(code);
}

int fault(const std::exception& error) {
  if (!standard_output_arrived()) return complain(standard_output_lost, ExitCode::environment);
  return complain(fmt::format("a fault of attnprof itself, please report it: {}", error.what()),
                  ExitCode::failed);
}

}  // namespace

int run_command_line(const std::vector<std::string>& args, const BackendOpener& open) {
  fill_closed_streams();
  be_quiet(false);
  try {
    const std::unique_ptr<Command> command = parse_command_line(args);
    if (!is_hidden_command(args)) print_trust_warnings();
    be_quiet(command->quiet);
    const int code = command->run(open);
    if (standard_output_arrived()) return code;
    return std::max(code, complain(standard_output_lost, ExitCode::environment));
  } catch (const Error& error) {
    return complain(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return complain("the host's memory is not enough; give a smaller plan", ExitCode::environment);
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return fault(error);
    return complain(
        "a thread cannot be started, since the limit of threads and processes is reached; raise it (ulimit -u)",
        ExitCode::environment);
  } catch (const std::exception& error) {
    return fault(error);
  }
}

}  // namespace attnprof
