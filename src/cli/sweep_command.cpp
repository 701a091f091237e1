#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/row_output.hpp"
#include "cli/sweep_gate.hpp"
#include "pipeline.hpp"
#include "report/csv.hpp"
#include "report/csv_writer.hpp"
#include "report/env_id.hpp"
#include "report/meta.hpp"
#include "report/progress.hpp"
#include "report/resume.hpp"

namespace attnprof {
namespace {

void say(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

std::string existing_meta(const std::string& csv_path) {
  return std::filesystem::exists(meta_path(csv_path)) ? read_text_file(meta_path(csv_path)) : "";
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
    if (keep < text.size()) file_.truncate(keep);
    replace_file(meta_path(options.output), meta);
    writer_.emplace(file_);
  }

  const std::vector<Row>& done() const { return done_; }
  SweepObserver* writer() { return &*writer_; }

  // The rows of this run, which are the last of the file, anew: some were measured again.
  void rewrite(const std::vector<Row>& rows) {
    const CsvText csv = parse_csv(file_.text(), file_.path());
    if (rows.empty() || csv.records.size() <= rows.size()) return;
    std::string text;
    for (const Row& row : rows) text += csv_row(all_columns(), row);
    file_.truncate(csv.records[csv.records.size() - rows.size()].offset);
    file_.write(text);
  }

 private:
  OutputFile file_;
  std::vector<Row> done_;
  std::optional<CsvWriter> writer_;
};

class Collector : public SweepObserver {
 public:
  explicit Collector(std::vector<Row>& rows) : rows_(rows) {}
  void end_case(const Row& row) override { rows_.push_back(row); }

 private:
  std::vector<Row>& rows_;
};

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

void say_the_end(ExitCode code, const SweepOptions& options) {
  if (code == ExitCode::interrupted && !options.output.empty())
    say(fmt::format("interrupted: {} has every finished row; --resume completes it", options.output));
  if (code == ExitCode::environment)
    say("nothing was measured: every case was skipped, for the reasons given");
  if (options.output.empty()) say("nothing was written; -o FILE.csv keeps every column of every row");
}

}  // namespace

ExitCode sweep_command(const SweepOptions& options, const BackendOpener& open) {
  if (!options.output.empty()) check_existing(options.output, options.existing);
  std::optional<SweepGate> gate;
  if (!options.gate.empty()) gate.emplace(options);
  const OpenBackend opened = open(options.device, options.measure);
  Backend& backend = *opened.backend;
  say(opened.why);
  say_all(backend.info().notices);
  const size_t notices = backend.info().notices.size();
  const std::vector<Case> cases = expand(options.axes, backend.info().device, backend.info().free_bytes);
  RunFacts facts{.run = new_run_id(),
                 .command_line = options.command_line,
                 .options = options.measure,
                 .cases = cases.size(),
                 .plan_id = plan_id(cases, options.measure)};
  const Provenance provenance{.schema = std::string(schema_version),
                              .run = facts.run,
                              .env_id = env_id(backend.info()),
                              .backend = backend.info().name,
                              .device = backend.info().device.name};
  if (gate) gate->check_plan(cases, provenance, meta_with_run("", options.output, facts, backend.info()));
  std::optional<SweepFile> file;
  if (!options.output.empty()) file.emplace(options, cases, backend, facts);
  const std::vector<Row> done = file ? file->done() : std::vector<Row>{};
  std::vector<Row> all = done;
  Collector collector(all);

  RowOutput rows(options.format, options.columns);
  for (const Row& row : done) rows.end_case(row);
  Progress progress(stderr, isatty(STDERR_FILENO) != 0, done.size());
  const InterruptGuard interrupt;
  SweepRun run{.provenance = provenance,
               .options = options.measure,
               .observers = {&progress, &rows, &collector},
               .stop = &interrupt.stop()};
  run.provenance.run = facts.run;  // a resumed run keeps its name
  if (file) run.observers.insert(run.observers.begin(), file->writer());
  const std::vector<Case> left(cases.begin() + static_cast<std::ptrdiff_t>(done.size()), cases.end());
  ExitCode code = overall(run_sweep(left, backend, run), done);
  progress.finish();
  const std::string meta = meta_with_run("", options.output, facts, backend.info());
  const auto again = [&](size_t index) {
    std::vector<Row> fresh;
    Collector collect(fresh);
    run.observers = {&progress, &collect};
    if (run_sweep({cases[index]}, backend, run) == ExitCode::interrupted) return false;
    all[index] = fresh.front();
    rows.replace(index, fresh.front());
    if (file) file->rewrite(all);
    return true;
  };
  if (gate && code != ExitCode::interrupted)
    code = gate->settle(all, meta, again) ? overall(code, all) : ExitCode::interrupted;
  progress.finish();
  rows.finish();
  say_all(backend.info().notices, notices);
  say_the_end(code, options);
  if (gate && code != ExitCode::interrupted) code = std::max(code, gate->show(all, meta));
  return code;
}

}  // namespace attnprof
