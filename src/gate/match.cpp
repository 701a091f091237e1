#include "gate/match.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "files/meta.hpp"
#include "gate/comparable.hpp"

namespace attnprof {
namespace {

bool has_runs(const Table& table) { return table.layout().source != Source::other; }

// One environment held against another: every pair of the two runs has the same answer.
struct Answer {
  bool time = true;
  std::vector<Difference> driver;
};

class Comparability {
 public:
  Comparability(const GateInput& baseline, const GateInput& current, const GateOptions& options)
      : baseline_(baseline),
        current_(current),
        allowed_(options.allow_different),
        against_(options.against) {}

  const Answer& of(const RowPair& pair) {
    const auto text = [](const GateInput& input, size_t row, Fact fact) -> std::string_view {
      return input.table.fact(row, fact);
    };
    const auto key =
        std::tuple(text(baseline_, pair.baseline, Fact::run), text(baseline_, pair.baseline, Fact::env_id),
                   text(current_, pair.current, Fact::run), text(current_, pair.current, Fact::env_id));
    const auto found = answers_.find(key);
    return found != answers_.end() ? found->second : answers_.emplace(key, examine(pair)).first->second;
  }

 private:
  Answer examine(const RowPair& pair) const {
    const std::string& old_backend = baseline_.table.fact(pair.baseline, Fact::backend);
    const std::string& new_backend = current_.table.fact(pair.current, Fact::backend);
    if (old_backend != new_backend)
      throw EnvironmentError(
          fmt::format("not comparable: backend ({} {}, {} now); "
                      "measured and simulated rows are never compared with each other",
                      old_backend, place_of(against_), new_backend));
    const bool same =
        baseline_.table.fact(pair.baseline, Fact::env_id) == current_.table.fact(pair.current, Fact::env_id);
    if (!same && allowed_.contains("env_id")) return {};
    const auto old_facts = facts(baseline_, pair.baseline, same),
               new_facts = facts(current_, pair.current, same);
    if (!old_facts || !new_facts) return {};
    std::vector<Difference> differing = differences(*old_facts, *new_facts, allowed_);
    if (differing.empty() && !same && differences(*old_facts, *new_facts, {}).empty())
      differing.push_back({"env_id", baseline_.table.fact(pair.baseline, Fact::env_id),
                           current_.table.fact(pair.current, Fact::env_id)});
    if (!std::ranges::all_of(differing, is_driver)) refuse(differing);
    return {.time = differing.empty(), .driver = differing};
  }

  [[noreturn]] void refuse(const std::vector<Difference>& differing) const {
    std::string names;
    for (const Difference& difference : differing) names += (names.empty() ? "" : ",") + difference.field;
    throw EnvironmentError(fmt::format("not comparable: {}; measure {}, or give --allow-different {}",
                                       describe(differing, place_of(against_)),
                                       against_ == Against::baseline
                                           ? "the baseline again in this environment"
                                           : "both sides in one environment",
                                       shell_word(names)));
  }

  // Nothing only when the environments are the same anyway.
  static std::optional<RunFactsByName> facts(const GateInput& input, size_t row, bool optional) {
    const std::string file = meta_path(input.table.file()), &run = input.table.fact(row, Fact::run);
    std::optional<RunFactsByName> facts;
    if (input.meta) facts = comparable_facts(*input.meta, run, file);
    if (!facts && !optional)
      throw EnvironmentError(fmt::format(
          "not comparable: env_id differs and {}; keep the file "
          "beside its CSV, or give --allow-different env_id",
          input.meta ? fmt::format("{} has no run {}", file, run) : fmt::format("{} is missing", file)));
    if (facts) facts->emplace("device", input.table.fact(row, Fact::device));
    return facts;
  }

  const GateInput& baseline_;
  const GateInput& current_;
  const std::set<std::string>& allowed_;
  const Against against_;
  std::map<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>, Answer>
      answers_;
};

// Bytes counted by one instrument say nothing of bytes counted by another.
bool same_bytes_source(const Table& baseline, const Table& current, const RowPair& pair,
                       const GateOptions& options) {
  const std::string& old_source = baseline.fact(pair.baseline, Fact::bytes_source);
  const std::string& new_source = current.fact(pair.current, Fact::bytes_source);
  if (old_source == new_source) return true;
  if (options.allow_different.contains("bytes_source")) return false;
  throw EnvironmentError(fmt::format(
      "not comparable: bytes_source ({} {}, {} now; {}, line {}); measure with the same "
      "counters, or give --allow-different bytes_source to compare without bytes",
      old_source, place_of(options.against), new_source, current.file(), current.line(pair.current)));
}

// Kernels that are built for a default tile, by what names them beside it.
template <class Wanted>
std::map<std::string, std::vector<uint32_t>> defaults_of(const Table& table, const Selection& rows,
                                                         Wanted wanted) {
  std::map<std::string, std::vector<uint32_t>> by_name;
  for (const uint32_t row : rows.rows) {
    if (!wanted(row) || table.fact(row, Fact::asked_tile) != "auto") continue;
    std::string name;
    for (const std::string& column : table.layout().key)
      if (column != "br" && column != "bc" && column != "macros") name += table.identity(row, column) + '\n';
    by_name[name].push_back(row);
  }
  return by_name;
}

bool timed(const Table& baseline, const Table& current, const RowPair& pair) {
  return baseline.fact(pair.baseline, Fact::latency_source) != "model" &&
         current.fact(pair.current, Fact::latency_source) != "model";
}

}  // namespace

Selection select_rows(const Table& table, std::string_view run) {
  Selection selection;
  if (table.rows() == 0) return selection;
  const bool filtered = has_runs(table) && run != "newest";
  const std::string wanted = run == "last" ? table.fact(table.rows() - 1, Fact::run) : std::string(run);
  selection.by_key.reserve(table.rows());
  for (uint32_t row = 0; row < table.rows(); ++row) {
    if (filtered && table.fact(row, Fact::run) != wanted) continue;
    const auto [entry, added] = selection.by_key.try_emplace(table.key(row), row);
    if (!added && table.fact(entry->second, Fact::run) == table.fact(row, Fact::run))
      throw UsageError(fmt::format("{}, lines {} and {}: both are '{}'; one run may hold a row once",
                                   table.file(), table.line(entry->second), table.line(row),
                                   table.label(row)));
    entry->second = row;
  }
  if (selection.by_key.empty())
    throw UsageError(fmt::format("{} has no run {}; column run names those it has", table.file(), wanted));
  for (const auto& [key, row] : selection.by_key) selection.rows.push_back(row);
  std::ranges::sort(selection.rows);
  return selection;
}

void check_allowed(const std::set<std::string>& allowed, const GateInput& baseline,
                   const GateInput& current) {
  if (allowed.empty()) return;
  const std::vector<std::string> known = allowable_names({baseline.meta, current.meta});
  for (const std::string& name : allowed)
    if (std::ranges::find(known, name) == known.end())
      throw UsageError(fmt::format("--allow-different '{}' is no fact of an environment; there are {}{}",
                                   name, fmt::join(known, ", "), did_you_mean(name, known)));
}

std::unordered_map<uint32_t, uint32_t> matching_rows(const Selection& baseline_rows,
                                                     const Selection& current_rows, const Table& baseline,
                                                     const Table& current) {
  std::unordered_map<uint32_t, uint32_t> matches;
  std::unordered_set<uint32_t> taken;
  matches.reserve(current_rows.rows.size());
  for (const uint32_t row : current_rows.rows)
    if (const auto found = baseline_rows.by_key.find(current.key(row)); found != baseline_rows.by_key.end()) {
      matches.emplace(row, found->second);
      taken.insert(found->second);
    }
  if (baseline.layout().source != Source::build) return matches;
  const auto old_left =
      defaults_of(baseline, baseline_rows, [&](uint32_t row) { return !taken.contains(row); });
  const auto new_left =
      defaults_of(current, current_rows, [&](uint32_t row) { return !matches.contains(row); });
  for (const auto& [name, rows] : new_left)
    if (const auto old = old_left.find(name); old != old_left.end() && old->second.size() == rows.size())
      for (size_t i = 0; i < rows.size(); ++i) matches.emplace(rows[i], old->second[i]);
  return matches;
}

std::vector<std::string> check_comparable(const GateInput& baseline, const GateInput& current,
                                          const GateOptions& options, std::vector<RowPair>& pairs) {
  std::set<std::string> warnings;
  if (!has_runs(baseline.table)) return {};
  Comparability comparability(baseline, current, options);
  for (RowPair& pair : pairs) {
    const Answer& answer = comparability.of(pair);
    if (!answer.driver.empty())
      warnings.insert(fmt::format("another driver: {}; times are not compared, bytes and FLOPs are",
                                  describe(answer.driver, place_of(options.against))));
    if (!baseline.table.ok(pair.baseline) || !current.table.ok(pair.current)) continue;
    pair.time = answer.time && timed(baseline.table, current.table, pair);
    pair.counts = same_bytes_source(baseline.table, current.table, pair, options);
    if (!pair.counts) warnings.insert("bytes_source differs: bytes and FLOPs are not compared");
  }
  return {warnings.begin(), warnings.end()};
}

}  // namespace attnprof
