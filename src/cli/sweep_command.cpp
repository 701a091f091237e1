#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/row_output.hpp"
#include "cli/standard_streams.hpp"
#include "pipeline.hpp"
#include "report/csv.hpp"
#include "report/csv_writer.hpp"
#include "report/env_id.hpp"
#include "report/meta.hpp"
#include "report/progress.hpp"
#include "report/resume.hpp"

namespace attnprof {
namespace {

std::string existing_meta(const std::string& csv_path) {
  std::error_code error;
  return std::filesystem::exists(meta_path(csv_path), error) ? read_text_file(meta_path(csv_path)) : "";
}

// The output file, checked against the plan and then made ready: nothing of it changes before all is known to
// be well.
class SweepFile {
 public:
  SweepFile(const SweepOptions& options, const std::vector<Case>& cases, Backend& backend, RunFacts& facts)
      : file_(options.output, options.existing) {
    const std::string text = file_.text();
    std::string meta =
        text.empty() || options.existing == Existing::overwrite ? "" : existing_meta(options.output);
    if (options.existing == Existing::append && !text.empty()) check_append(text, options.output);
    size_t keep = options.existing == Existing::overwrite ? 0 : text.size();
    if (options.existing == Existing::resume && !text.empty()) {
      Resumption resumption = check_resume(text, meta, options.output, cases, options.measure, backend);
      keep = resumption.keep_bytes;
      if (!resumption.run.empty()) facts.run = resumption.run;
      done_ = std::move(resumption.done);
      if (resumption.torn_line > 0)
        say(fmt::format("{}, line {}: the line is torn and is measured again", options.output,
                        resumption.torn_line));
    }
    meta = meta_with_run(meta, meta_path(options.output), facts, backend.info());
    replace_file(meta_path(options.output), meta);  // before the rows: where it fails, the file keeps them
    if (keep < text.size()) file_.truncate(keep);
    writer_.emplace(file_);
  }

  const std::vector<Row>& done() const { return done_; }
  SweepObserver* writer() { return &*writer_; }

 private:
  OutputFile file_;
  std::vector<Row> done_;
  std::optional<CsvWriter> writer_;
};

Provenance provenance_of(const RunFacts& facts, const BackendInfo& info) {
  return {.schema = std::string(schema_version),
          .run = facts.run,
          .env_id = env_id(info),
          .backend = info.name,
          .device = info.device.name};
}

// Of the whole run: rows of an earlier, resumed part count too.
ExitCode overall(ExitCode code, const std::vector<Row>& done) {
  const auto any = [&](std::string_view disposition) {
    return std::ranges::any_of(done, [&](const Row& row) { return row.status.disposition == disposition; });
  };
  if (code == ExitCode::interrupted) return code;
  if (code == ExitCode::failed || any("failed") || any("incorrect")) return ExitCode::failed;
  return code == ExitCode::ok || any("ok") ? ExitCode::ok : ExitCode::environment;
}

void say_all(const std::vector<std::string>& notices, size_t from = 0) {
  for (size_t i = from; i < notices.size(); ++i) say(notices[i]);
}

void say_how_to_go_on(const SweepOptions& options) {
  if (!options.output.empty())
    say(fmt::format("{} has every finished row; --resume completes it", options.output));
}

void say_the_end(ExitCode code, const SweepOptions& options) {
  if (code == ExitCode::interrupted) say_how_to_go_on(options);
  if (code == ExitCode::environment)
    say("nothing was measured: every case was skipped, for the reasons given");
  if (options.output.empty()) say("nothing was written; -o FILE.csv keeps every column of every row");
}

// Measures the cases that are not in the file yet. An error that ends the run is thrown on after all that is
// known has been printed.
ExitCode measure_what_is_left(const SweepOptions& options, Backend& backend, const std::vector<Case>& cases,
                              const RunFacts& facts, SweepFile* file) {
  const size_t notices_said = backend.info().notices.size();
  const std::vector<Row> done = file ? file->done() : std::vector<Row>{};
  RowOutput rows(options.format, options.columns, /*kept=*/file != nullptr);
  for (const Row& row : done) rows.end_case(row);
  Progress progress(stderr, isatty(STDERR_FILENO) != 0, done.size());
  const InterruptGuard interrupt;
  SweepRun run{.provenance = provenance_of(facts, backend.info()),
               .options = options.measure,
               .observers = {&progress, &rows},
               .stop = &interrupt.stop()};
  if (file) run.observers.insert(run.observers.begin(), file->writer());
  const std::vector<Case> left(cases.begin() + static_cast<std::ptrdiff_t>(done.size()), cases.end());
  const auto print_what_is_known = [&] {
    progress.finish();
    rows.finish();
    say_all(backend.info().notices, notices_said);
  };
  try {
    const ExitCode code = overall(run_sweep(left, backend, run), done);
    print_what_is_known();
    return code;
  } catch (...) {  // the disk is full, the GPU is lost: what was measured until then still counts
    print_what_is_known();
    say_how_to_go_on(options);
    throw;
  }
}

}  // namespace

ExitCode sweep_command(const SweepOptions& options, const BackendOpener& open) {
  ignore_broken_pipes();
  if (!options.output.empty()) check_existing(options.output, options.existing);
  const OpenBackend opened = open(options.device, options.measure);
  Backend& backend = *opened.backend;
  say(opened.why);
  say_all(backend.info().notices);
  const std::vector<Case> cases = expand(options.axes, backend.info().device, backend.info().free_bytes);
  RunFacts facts{.run = new_run_id(),
                 .command_line = options.command_line,
                 .options = options.measure,
                 .cases = cases.size(),
                 .plan_id = plan_id(cases, options.measure)};
  std::optional<SweepFile> file;
  if (!options.output.empty()) file.emplace(options, cases, backend, facts);
  const ExitCode code = measure_what_is_left(options, backend, cases, facts, file ? &*file : nullptr);
  say_the_end(code, options);
  return code;
}

}  // namespace attnprof
