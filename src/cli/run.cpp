#include "cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <new>

#include "base/standard_streams.hpp"
#include "base/trusted_path.hpp"
#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "plugin/plugin_host.hpp"

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
  int operator()(const TuneCommand& command) const { return static_cast<int>(tune_command(command, open)); }
  int operator()(const ListOptions& options) const { return static_cast<int>(list_command(options)); }
  int operator()(const CompileCommand& options) const { return static_cast<int>(compile_command(options)); }
  int operator()(const DoctorCommand& options) const {
    if (options.self_test)
      return run_self_test({.measure = options.measure, .output = options.output}, std::cout);
    const auto automatic = [&] { return open(DeviceChoice{}, options.measure).why; };
    return run_doctor({.measure = options.measure, .json = options.json, .automatic_backend = automatic},
                      std::cout);
  }
  int operator()(const GateCommand& command) const { return static_cast<int>(gate_command(command)); }
  int operator()(const BaselineCommand& command) const {
    return static_cast<int>(baseline_update_command(command));
  }
  int operator()(const RooflineCommand& command) const { return static_cast<int>(roofline_command(command)); }
  int operator()(const ExplainCommand& command) const { return static_cast<int>(explain_command(command)); }
  int operator()(const PublishedCommand& command) const {
    return static_cast<int>(published_command(command));
  }
  int operator()(const CeilingsCommand& command) const { return static_cast<int>(ceilings_command(command)); }
  int operator()(const TraceCommand& command) const { return trace_command(command); }
  int operator()(const PluginHostCommand&) const { return serve_plugin_host(); }
  int operator()(const NewVariantCommand& command) const {
    return static_cast<int>(new_variant_command(command));
  }
  int operator()(const WorkerCommand&) const { return serve_gpu_worker_process(); }
};

int complain(const std::string& sentence, ExitCode code) {
  std::fflush(stdout);
  say("attnprof: " + sentence);
  return static_cast<int>(code);
}

}  // namespace

int run_command_line(const std::vector<std::string>& args, const BackendOpener& open) {
  fill_closed_streams();
  try {
    const Command command = parse_command_line(args);
    if (!std::holds_alternative<WorkerCommand>(command) &&
        !std::holds_alternative<PluginHostCommand>(command))
      print_trust_warnings();
    const int code = std::visit(RunCommand{open}, command);
    if (standard_output_arrived()) return code;
    return std::max(code, complain(standard_output_lost, ExitCode::environment));
  } catch (const Error& error) {
    return complain(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return complain("the host's memory is not enough; give a smaller plan", ExitCode::environment);
  } catch (const std::exception& error) {
    if (!standard_output_arrived()) return complain(standard_output_lost, ExitCode::environment);
    return complain(fmt::format("a fault of attnprof itself, please report it: {}", error.what()),
                    ExitCode::failed);
  }
}

}  // namespace attnprof
