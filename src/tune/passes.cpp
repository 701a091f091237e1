#include "tune/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/standard_streams.hpp"
#include "run/recorded_run.hpp"
#include "tune/ranking.hpp"

namespace attnprof {
namespace {

// The quick pass: enough to tell what is out of the question.
constexpr double quick_precision = 0.03, quick_time_s = 0.05;

MeasureOptions quick(MeasureOptions options) {
  options.precision = std::max(options.precision, quick_precision);
  options.max_time_s = std::min(options.max_time_s, quick_time_s);
  options.counters = CounterMode::off;
  return options;
}

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

// Rows in the order of all cases, by contest.
std::vector<std::vector<Row>> by_contest(const std::vector<Row>& rows,
                                         const std::vector<std::vector<Case>>& contests) {
  std::vector<std::vector<Row>> result;
  size_t next = 0;
  for (const auto& contest : contests) {
    const size_t end = std::min(next + contest.size(), rows.size());
    result.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(next),
                        rows.begin() + static_cast<std::ptrdiff_t>(end));
    next = end;
  }
  return result;
}

}  // namespace

TuneResult TunePasses::measure(const std::vector<std::vector<Case>>& contests, Backend& backend,
                               const MeasureOptions& options, const std::string& name) {
  std::vector<Case> cases;
  for (const auto& contest : contests) cases.insert(cases.end(), contest.begin(), contest.end());
  const RunFacts facts = new_run(fmt::format("{} # {}", command_line_, name), options, cases);
  if (file_) file_->check_columns(cases);
  RecordedRun run(backend, facts, file_, interrupt_.stop());
  say(fmt::format("{}: {} cases", name, cases.size()));
  const ExitCode code = run.measure(cases);
  return {by_contest(run.rows(), contests), code};
}

TuneResult TunePasses::only(const std::vector<Contest>& contests, Backend& backend) {
  return measure(all_cases(contests), backend, options_, "only pass");
}

TuneResult TunePasses::quick_then_precise(const std::vector<Contest>& contests, const Open& open) {
  const MeasureOptions quick_options = quick(options_);
  std::unique_ptr<Backend> backend = open(quick_options);
  TuneResult first = measure(all_cases(contests), *backend, quick_options, "quick pass");
  if (first.code == ExitCode::interrupted || first.code == ExitCode::environment) return first;
  backend.reset();
  backend = open(options_);
  TuneResult second = measure(open_cases(contests, first.rows), *backend, options_, "precise pass");
  if (second.code == ExitCode::interrupted) {  // contests it had not reached have their quick rows
    for (size_t i = 0; i < first.rows.size(); ++i)
      if (by_latency(second.rows[i]).empty()) second.rows[i] = first.rows[i];
    return second;
  }
  second.code = std::max(first.code == ExitCode::failed ? ExitCode::failed : ExitCode::ok, second.code);
  return second;
}

}  // namespace attnprof
