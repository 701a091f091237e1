#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "base/signal_end.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/row_output.hpp"
#include "cli/standard_streams.hpp"
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

std::string existing_meta(const std::string& csv_path) {
  std::error_code error;
  return std::filesystem::exists(meta_path(csv_path), error) ? read_text_file(meta_path(csv_path)) : "";
}

void write_meta(const SweepOptions& options, const std::string& text) {
  try {
    replace_file(meta_path(options.output), text);
  } catch (const Error&) {
    std::error_code
        error;  // the CSV was made just now and is empty: it must not stand in the next sweep's way
    if (options.existing == Existing::refuse) std::filesystem::remove(options.output, error);
    throw;
  }
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
    write_meta(options, meta);  // before the rows: where it fails, the file keeps them
    if (keep < text.size()) file_.truncate(keep);
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

std::string how_to_go_on(const SweepOptions& options) {
  return options.output.empty()
             ? ""
             : fmt::format("{} has every finished row; --resume completes it", options.output);
}

void say_how_to_go_on(const SweepOptions& options) {
  if (!options.output.empty()) say(how_to_go_on(options));
}

void say_the_end(ExitCode code, const SweepOptions& options) {
  if (code == ExitCode::interrupted) say_how_to_go_on(options);
  if (code == ExitCode::environment)
    say("nothing was measured: every case was skipped, for the reasons given");
  if (options.output.empty()) say("nothing was written; -o FILE.csv keeps every column of every row");
}

// What describes this run alone.
std::string meta_of_run(const SweepOptions& options, const RunFacts& facts, const Backend& backend) {
  return meta_with_run("", options.output, facts, backend.info());
}

// One sweep from the first case that is not in the file yet to its last row.
class Measuring {
 public:
  Measuring(const SweepOptions& options, Backend& backend, const std::vector<Case>& cases,
            const RunFacts& facts, SweepFile* file)
      : options_(options),
        backend_(backend),
        cases_(cases),
        facts_(facts),
        file_(file),
        output_(options.format, options.columns, /*kept=*/file != nullptr),
        progress_(stderr, isatty(STDERR_FILENO) != 0, file ? file->done().size() : 0),
        notices_said_(backend.info().notices.size()),
        run_{.provenance = provenance_of(facts, backend.info()),
             .options = options.measure,
             .observers = {},
             .stop = &interrupt_.stop()} {
    if (file) rows_ = file->done();
    for (const Row& row : rows_) output_.end_case(row);
  }

  // An error that ends the run is thrown on after all that is known has been printed.
  ExitCode measure(const SweepGate* gate) {
    try {
      const ExitCode code = settled(measure_what_is_left(), gate);
      print_what_is_known();
      return code;
    } catch (...) {  // the disk is full, the GPU is lost: what was measured until then still counts
      print_what_is_known();
      say_how_to_go_on(options_);
      throw;
    }
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  ExitCode measure_what_is_left() {
    const std::vector<Row> done = rows_;
    Collector collector(rows_);
    run_.observers = {&progress_, &output_, &collector};
    if (file_) run_.observers.insert(run_.observers.begin(), file_->writer());
    const std::vector<Case> left(cases_.begin() + static_cast<std::ptrdiff_t>(done.size()), cases_.end());
    return overall(run_sweep(left, backend_, run_), done);
  }

  // Measures again what the gate cannot tell.
  ExitCode settled(ExitCode code, const SweepGate* gate) {
    if (!gate || code == ExitCode::interrupted) return code;
    progress_.finish();
    const bool finished = gate->settle(rows_, meta_of_run(options_, facts_, backend_),
                                       [this](size_t index) { return measure_again(index); });
    return finished ? overall(code, rows_) : ExitCode::interrupted;
  }

  bool measure_again(size_t index) {
    std::vector<Row> fresh;
    Collector collector(fresh);
    run_.observers = {&progress_, &collector};
    if (run_sweep({cases_[index]}, backend_, run_) == ExitCode::interrupted) return false;
    rows_[index] = fresh.front();
    output_.replace(index, fresh.front());
    if (file_) file_->rewrite(rows_);
    return true;
  }

  void print_what_is_known() {
    progress_.finish();
    output_.finish();
    say_all(backend_.info().notices, notices_said_);
  }

  const SweepOptions& options_;
  Backend& backend_;
  const std::vector<Case>& cases_;
  const RunFacts& facts_;
  SweepFile* file_;
  RowOutput output_;
  Progress progress_;
  const InterruptGuard interrupt_;
  size_t notices_said_;
  SweepRun run_;
  std::vector<Row> rows_;  // of the whole run, an earlier part's first
};

}  // namespace

ExitCode sweep_command(const SweepOptions& options, const BackendOpener& open) {
  ignore_broken_pipes();
  if (!options.output.empty()) check_existing(options.output, options.existing);
  std::optional<SweepGate> gate;
  if (!options.gate.empty()) gate.emplace(options);
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
  if (gate)
    gate->check_plan(cases, provenance_of(facts, backend.info()), meta_of_run(options, facts, backend));
  std::optional<SweepFile> file;
  if (!options.output.empty()) file.emplace(options, cases, backend, facts);
  const EndNote note(how_to_go_on(options));
  Measuring measuring(options, backend, cases, facts, file ? &*file : nullptr);
  ExitCode code = measuring.measure(gate ? &*gate : nullptr);
  say_the_end(code, options);
  if (gate && code != ExitCode::interrupted)
    code = std::max(code, gate->show(measuring.rows(), meta_of_run(options, facts, backend)));
  return code;
}

}  // namespace attnprof
