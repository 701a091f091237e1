#include "run/recorded_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/standard_streams.hpp"
#include "files/env_id.hpp"
#include "row/schema.hpp"
#include "run/sweep_gate.hpp"

namespace attnprof {
namespace {

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

}  // namespace

RunFacts new_run(const std::string& command_line, const MeasureOptions& options,
                 const std::vector<Case>& cases) {
  return {.run = new_run_id(),
          .command_line = command_line,
          .options = options,
          .cases = cases.size(),
          .plan_id = plan_id(cases, options),
          .kernels = kernel_tree(options.kernels_dir)};
}

Provenance provenance_of(const RunFacts& facts, const BackendInfo& info) {
  return {.schema = std::string(schema_version),
          .run = facts.run,
          .env_id = env_id(info),
          .backend = info.name,
          .device = info.device.name};
}

std::string meta_of_run(const RunFacts& facts, const BackendInfo& info) {
  return meta_with_run("", facts.run, facts, info);
}

RecordedRun::RecordedRun(Backend& backend, const RunFacts& facts, RunFile* file,
                         const std::atomic<bool>& stop, std::vector<Row> done)
    : backend_(backend),
      facts_(facts),
      file_(file),
      notices_said_(backend.info().notices.size()),
      rows_(std::move(done)),
      progress_(stderr, isatty(STDERR_FILENO) != 0, rows_.size()),
      run_{.provenance = provenance_of(facts, backend.info()),
           .options = facts.options,
           .observers = {&progress_},
           .stop = &stop} {
  if (file) run_.observers.insert(run_.observers.begin(), &file->begin(facts, backend.info()));
}

void RecordedRun::show_on(SweepObserver& observer) {
  for (const Row& row : rows_) observer.end_case(row);
  run_.observers.push_back(&observer);
  shown_on_.push_back(&observer);
}

ExitCode RecordedRun::measure(const std::vector<Case>& cases, const SweepGate* gate) {
  try {
    ExitCode code = measure_what_is_left(cases);
    if (gate && code != ExitCode::interrupted) code = settled(code, cases, *gate);
    finish();
    return code;
  } catch (...) {  // the disk is full, the GPU is lost: what was measured until then still counts
    finish();
    throw;
  }
}

ExitCode RecordedRun::measure_what_is_left(const std::vector<Case>& cases) {
  const std::vector<Row> done = rows_;
  Collector collector(rows_);
  SweepRun run = run_;
  run.observers.push_back(&collector);
  const std::vector<Case> left(cases.begin() + static_cast<std::ptrdiff_t>(done.size()), cases.end());
  return overall(run_sweep(left, backend_, run), done);
}

ExitCode RecordedRun::settled(ExitCode code, const std::vector<Case>& cases, const SweepGate& gate) {
  progress_.finish();
  const bool finished = gate.settle(rows_, meta_of_run(facts_, backend_.info()),
                                    [&](size_t index) { return measure_again(cases[index], index); });
  return finished ? overall(code, rows_) : ExitCode::interrupted;
}

bool RecordedRun::measure_again(const Case& c, size_t index) {
  std::vector<Row> fresh;
  Collector collector(fresh);
  SweepRun run = run_;
  run.observers = {&progress_, &collector};
  if (run_sweep({c}, backend_, run) == ExitCode::interrupted) return false;
  rows_[index] = fresh.front();
  for (SweepObserver* observer : shown_on_) observer->replace(index, fresh.front());
  if (file_) file_->rewrite(rows_, index);
  return true;
}

void RecordedRun::finish() {
  progress_.finish();
  for (SweepObserver* observer : shown_on_) observer->finish();
  const std::vector<std::string>& notices = backend_.info().notices;
  for (; notices_said_ < notices.size(); ++notices_said_) say(notices[notices_said_]);
}

}  // namespace attnprof
