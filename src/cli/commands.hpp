// The subcommands, each in a file of its own.
#pragma once

#include "base/error.hpp"
#include "cli/options.hpp"
#include "cli/run.hpp"

namespace attnprof {

ExitCode sweep_command(const SweepOptions& options, const BackendOpener& open);
ExitCode tune_command(const TuneCommand& command, const BackendOpener& open);
ExitCode dry_run_command(const SweepOptions& options, const BackendOpener& open);
ExitCode list_command(const ListOptions& options);
ExitCode gate_command(const GateCommand& command);
ExitCode baseline_update_command(const BaselineCommand& command);
ExitCode roofline_command(const RooflineCommand& command);
ExitCode explain_command(const ExplainCommand& command);
ExitCode published_command(const PublishedCommand& command);
ExitCode ceilings_command(const CeilingsCommand& command);
// Gives the traced program's own exit code where that is not 0.
int trace_command(const TraceCommand& command);
ExitCode new_variant_command(const NewVariantCommand& command);
ExitCode compile_command(const CompileCommand& options);

}  // namespace attnprof
