#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/signal_end.hpp"
#include "cli/commands.hpp"
#include "cli/compile_progress.hpp"
#include "cli/interrupt.hpp"
#include "cli/standard_streams.hpp"
#include "cli/tune_output.hpp"
#include "measure/compile/compile_plan.hpp"
#include "report/csv.hpp"
#include "report/csv_writer.hpp"
#include "report/env_id.hpp"
#include "report/meta.hpp"
#include "report/progress.hpp"
#include "report/resume.hpp"
#include "roofline/schema.hpp"
#include "tune/compiled.hpp"
#include "tune/contest.hpp"
#include "tune/ranking.hpp"

namespace attnprof {
namespace {

// The quick pass: enough to tell what is out of the question.
constexpr double quick_precision = 0.03, quick_time_s = 0.05;

// Every row of every pass; a pass is a run, so that no run has a case twice.
class TuneFile {
 public:
  TuneFile(const std::string& path, Existing existing) : file_(path, existing) {
    const std::string text = file_.text();
    if (existing == Existing::append && !text.empty()) {
      check_append(text, path);
      std::error_code error;
      if (std::filesystem::exists(meta_path(path), error)) meta_ = read_text_file(meta_path(path));
    }
    overwrite_ = existing == Existing::overwrite;
  }

  SweepObserver* begin_run(const RunFacts& facts, const BackendInfo& info) {
    meta_ = meta_with_run(meta_, meta_path(file_.path()), facts, info);
    replace_file(meta_path(file_.path()), meta_);
    if (overwrite_) file_.truncate(0);
    overwrite_ = false;
    return &writer_.emplace(file_);
  }

 private:
  OutputFile file_;
  std::string meta_;
  bool overwrite_;
  std::optional<CsvWriter> writer_;
};

class Collector : public SweepObserver {
 public:
  void end_case(const Row& row) override { rows.push_back(row); }
  std::vector<Row> rows;
};

size_t candidates_in(const std::vector<Contest>& contests) {
  size_t count = 0;
  for (const Contest& contest : contests) count += contest.candidates.size();
  return count;
}

void say_pruned(const std::string& what, const std::vector<Pruned>& all) {
  size_t total = 0;
  for (const Pruned& pruned : all) total += pruned.count;
  if (total == 0) return;
  say(fmt::format("{} {}:", total, what));
  for (const Pruned& pruned : all)
    say(fmt::format("  {}{}", pruned.count == 1 ? "" : fmt::format("{} such as ", pruned.count),
                    pruned.example));
}

// Compiles what is left, in parallel, and takes out what the compiler speaks against.
void prune_compiled(std::vector<Contest>& contests, const TuneCommand& command, const BackendInfo& info) {
  std::optional<KernelCompiler> compiler;
  try {
    compiler.emplace(compile_options(command.measure));
  } catch (const EnvironmentError& error) {
    return say(fmt::format("registers and spills are not known beforehand: {}", error.what()));
  }
  std::vector<Case> cases;
  for (const Contest& contest : contests)
    cases.insert(cases.end(), contest.candidates.begin(), contest.candidates.end());
  compile_watched(cases, info.device.arch, info.device, *compiler, 0);
  say_pruned("left out by what the compiler says", prune(contests, [&](const Case& c) {
               return compiled_reason(c, info.device, *compiler, command.keep_spills);
             }));
}

struct PassResult {
  std::vector<std::vector<Row>> rows;  // by contest, in the order of its cases; interrupted: fewer
  ExitCode code = ExitCode::ok;
};

// Measures the cases of every contest in one run.
class Measurer {
 public:
  explicit Measurer(const TuneCommand& command) : command_(command) {
    if (!command.output.empty()) file_.emplace(command.output, command.existing);
  }

  PassResult measure(const std::vector<std::vector<Case>>& contests, Backend& backend,
                     const MeasureOptions& options, const std::string& name) {
    std::vector<Case> cases;
    for (const auto& contest : contests) cases.insert(cases.end(), contest.begin(), contest.end());
    const RunFacts facts{.run = new_run_id(),
                         .command_line = fmt::format("{} # {}", command_.command_line, name),
                         .options = options,
                         .cases = cases.size(),
                         .plan_id = plan_id(cases, options)};
    Progress progress(stderr, isatty(STDERR_FILENO) != 0);
    Collector collector;
    SweepRun run{.provenance = provenance_of(facts, backend.info()),
                 .options = options,
                 .observers = {&progress, &collector},
                 .stop = &interrupt_.stop()};
    if (file_) run.observers.insert(run.observers.begin(), file_->begin_run(facts, backend.info()));
    say(fmt::format("{}: {} cases", name, cases.size()));
    PassResult pass{.rows = {}, .code = run_sweep(cases, backend, run)};
    progress.finish();
    size_t next = 0;
    for (const auto& contest : contests) {
      const size_t end = std::min(next + contest.size(), collector.rows.size());
      pass.rows.emplace_back(collector.rows.begin() + static_cast<std::ptrdiff_t>(next),
                             collector.rows.begin() + static_cast<std::ptrdiff_t>(end));
      next = end;
    }
    return pass;
  }

 private:
  static Provenance provenance_of(const RunFacts& facts, const BackendInfo& info) {
    return {.schema = std::string(schema_version),
            .run = facts.run,
            .env_id = env_id(info),
            .backend = info.name,
            .device = info.device.name};
  }

  const TuneCommand& command_;
  const InterruptGuard interrupt_;
  std::optional<TuneFile> file_;
};

std::vector<std::vector<Case>> all_cases(const std::vector<Contest>& contests) {
  std::vector<std::vector<Case>> cases;
  for (const Contest& contest : contests) cases.push_back(contest.candidates);
  return cases;
}

// Those that the quick pass leaves open, and the default, which they are held against.
std::vector<std::vector<Case>> open_cases(const std::vector<Contest>& contests,
                                          const std::vector<std::vector<Row>>& rows) {
  std::vector<std::vector<Case>> cases;
  for (size_t i = 0; i < contests.size(); ++i) {
    std::vector<size_t> chosen = finalists(rows[i]);
    const bool default_ran = !rows[i].empty() && rows[i].front().status.disposition == "ok" &&
                             contests[i].candidates.front().requested == TileRequest{};
    if (default_ran && std::ranges::find(chosen, 0u) == chosen.end()) chosen.push_back(0);
    cases.emplace_back();
    for (size_t index : chosen) cases.back().push_back(contests[i].candidates[index]);
  }
  return cases;
}

MeasureOptions quick(MeasureOptions options) {
  options.precision = std::max(options.precision, quick_precision);
  options.max_time_s = std::min(options.max_time_s, quick_time_s);
  options.counters = CounterMode::off;
  return options;
}

// A model's latency is the same however often it is asked for.
bool is_a_model(const BackendInfo& info) { return info.name == "sim"; }

bool any_ok(const std::vector<ContestResult>& results) {
  return std::ranges::any_of(results, [](const ContestResult& result) {
    return std::ranges::any_of(result.rows, [](const Row& row) { return row.status.disposition == "ok"; });
  });
}

// The last pass that has an answer.
PassResult measure_all(const TuneCommand& command, const BackendOpener& open, OpenBackend opened,
                       const std::vector<Contest>& contests) {
  Measurer measurer(command);
  if (is_a_model(opened.backend->info()))
    return measurer.measure(all_cases(contests), *opened.backend, command.measure, "only pass");
  opened.backend.reset();  // one at a time has the device's memory
  const MeasureOptions quick_options = quick(command.measure);
  opened = open(command.device, quick_options);
  PassResult first = measurer.measure(all_cases(contests), *opened.backend, quick_options, "quick pass");
  if (first.code == ExitCode::interrupted || first.code == ExitCode::environment) return first;
  opened.backend.reset();
  opened = open(command.device, command.measure);
  PassResult second =
      measurer.measure(open_cases(contests, first.rows), *opened.backend, command.measure, "precise pass");
  if (second.code == ExitCode::interrupted) {  // contests it had not reached have their quick rows
    for (size_t i = 0; i < first.rows.size(); ++i)
      if (by_latency(second.rows[i]).empty()) second.rows[i] = first.rows[i];
    return second;
  }
  second.code = std::max(first.code == ExitCode::failed ? ExitCode::failed : ExitCode::ok, second.code);
  return second;
}

}  // namespace

ExitCode tune_command(const TuneCommand& command, const BackendOpener& open) {
  ignore_broken_pipes();
  if (!command.output.empty()) check_existing(command.output, command.existing);
  OpenBackend opened = open(command.device, command.measure);
  const BackendInfo info = opened.backend->info();
  say(opened.why);
  for (const std::string& notice : info.notices) say(notice);
  std::vector<Contest> contests = contests_of(command.axes, info.device, info.free_bytes);
  std::vector<ContestResult> results;
  for (const Contest& contest : contests)
    results.push_back({contest.candidates.front(), contest.candidates.size(), 0, {}});
  say(fmt::format("{} candidates for {} problem{}", candidates_in(contests), contests.size(),
                  contests.size() == 1 ? "" : "s"));
  say_pruned("cannot run", prune_skipped(contests));
  if (command.compile && candidates_in(contests) > 0) prune_compiled(contests, command, info);
  if (candidates_in(contests) == 0)
    throw EnvironmentError(
        "nothing can be measured: no candidate runs on this device, for the reasons given");
  const EndNote note(command.output.empty() ? "" : command.output + " has every row that was measured");
  const PassResult pass = measure_all(command, open, std::move(opened), contests);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].measured = contests[i].candidates.size();
    results[i].rows = pass.rows[i];
  }
  print(format_results(results, command.format));
  if (is_a_model(info) && any_ok(results))
    say(fmt::format("these latencies are the simulator's model of {}, no measurement: tune again on the GPU",
                    info.device.name));
  if (command.output.empty()) say("nothing was written; -o FILE.csv keeps every row measured");
  return pass.code;
}

}  // namespace attnprof
