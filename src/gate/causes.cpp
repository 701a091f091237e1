#include "gate/causes.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace attnprof {
namespace {

// Files whose rows are called by so many names have a name a row: no row would be like another.
constexpr size_t most_subjects = 16;

const Table& table_of(const GateResult& result, const RowOutcome& outcome) {
  return outcome.state == RowState::missing ? *result.baseline : *result.current;
}

// The first cell of a row's name: the algorithm.
std::string_view subject_of(std::string_view key, std::vector<std::string_view>& cells) {
  split_key(key, cells);
  return cells.front();
}

bool has_few_subjects(const GateResult& result) {
  std::set<std::string_view> subjects;
  std::vector<std::string_view> cells;
  for (const RowPair& pair : result.pairs) {
    subjects.insert(subject_of(result.current->key(pair.current), cells));
    if (subjects.size() > most_subjects) return false;
  }
  return true;
}

// Texts of a table are kept once, so that equal ones have one address.
using Address = const std::string*;
struct Because {
  std::array<Address, 8> texts{};
  std::string_view subject;
  RowState state;
  auto operator<=>(const Because&) const = default;
};

bool tells_reason(RowState state) {
  return state == RowState::not_ok || state == RowState::never_ok || state == RowState::now_ok;
}

void add_reason(const Table& table, size_t row, Because& because) {
  because.texts[6] = &table.fact(row, Fact::disposition);
  because.texts[7] = &table.reason(row);
}

void add_tiles(const GateResult& result, const RowPair& pair, Because& because) {
  if (same_resolved(*result.baseline, *result.current, pair)) return;
  size_t at = 0;
  for (const Fact fact : {Fact::br, Fact::bc, Fact::knobs_used}) {
    because.texts[at++] = &result.baseline->fact(pair.baseline, fact);
    because.texts[at++] = &result.current->fact(pair.current, fact);
  }
}

// How much a value changed: by its share, from 0 by its amount.
std::pair<double, double> size_of(const Comparison& comparison) {
  return {std::abs(comparison.worsening), std::abs(comparison.current - comparison.baseline)};
}

class Causes {
 public:
  explicit Causes(const GateResult& result) : result_(result), by_subject_(has_few_subjects(result)) {}

  void add(const RowOutcome& outcome) {
    const Table& table = table_of(result_, outcome);
    Cause& cause = cause_of(outcome, table);
    cause.failed |= outcome.failed;
    ++cause.rows;
    cause.identity.add(table.key(outcome.row));
    for (const Comparison* comparison : outcome.different) count(*comparison, cause.metrics);
  }

  std::vector<Cause> take() {
    std::ranges::stable_sort(causes_, [](const Cause& a, const Cause& b) {
      return std::tuple(a.state, b.rows) < std::tuple(b.state, a.rows);
    });
    return std::move(causes_);
  }

 private:
  Cause& cause_of(const RowOutcome& outcome, const Table& table) {
    Because because{.texts = {}, .subject = {}, .state = outcome.state};
    if (by_subject_) because.subject = subject_of(table.key(outcome.row), cells_);
    if (outcome.state == RowState::now_ok)
      add_reason(*result_.baseline, outcome.pair->baseline, because);
    else if (tells_reason(outcome.state))
      add_reason(table, outcome.row, because);
    else if (outcome.pair)
      add_tiles(result_, *outcome.pair, because);
    const auto [entry, added] = known_.try_emplace(because, causes_.size());
    if (added)
      causes_.push_back({.state = outcome.state,
                         .first = static_cast<uint32_t>(outcome.row),
                         .pair = outcome.pair,
                         .identity = SharedIdentity(table.layout().key.size()),
                         .metrics = {}});
    return causes_[entry->second];
  }

  static void count(const Comparison& comparison, std::vector<CauseMetric>& metrics) {
    auto found = std::ranges::find_if(metrics, [&](const CauseMetric& metric) {
      return metric.metric == comparison.metric && metric.verdict == comparison.judgement.verdict;
    });
    if (found == metrics.end())
      found = metrics.insert(metrics.end(), {comparison.metric, comparison.judgement.verdict});
    ++found->rows;
    if (!found->most || size_of(*found->most) < size_of(comparison)) found->most = &comparison;
  }

  const GateResult& result_;
  const bool by_subject_;
  std::map<Because, size_t> known_;
  std::vector<Cause> causes_;
  std::vector<std::string_view> cells_;
};

// What is worse first, in a cause of what is worse.
void sort_metrics(Cause& cause) {
  constexpr std::array ranks = {3, 2, 0, 1};  // same, better, worse, ambiguous
  std::ranges::sort(cause.metrics, {}, [&](const CauseMetric& metric) {
    return std::tuple(ranks[static_cast<size_t>(metric.verdict)], metric.metric);
  });
}

// How many rows there are with the identity that a cause's rows share.
void count_alike(const GateResult& result, const GateOptions& options, const SharedIdentity& all,
                 std::vector<Cause>& causes) {
  std::vector<std::vector<bool>> columns;
  for (const Cause& cause : causes)
    columns.push_back(cause.rows == 1 ? std::vector<bool>(all.columns().size(), false)
                                      : cause.identity.beyond(all));
  std::vector<std::string_view> cells;
  for_each_row(result, options, [&](const RowOutcome& outcome) {
    split_key(table_of(result, outcome).key(outcome.row), cells);
    for (size_t i = 0; i < causes.size(); ++i) causes[i].of += causes[i].identity.matches(cells, columns[i]);
  });
}

bool is_told(RowState state) { return state != RowState::same && state != RowState::skipped; }

}  // namespace

GateReport::GateReport(const GateResult& gate_result, const GateOptions& gate_options)
    : result(gate_result), options(gate_options), identity(gate_result.current->layout().key.size()) {
  Causes found(result);
  for_each_row(result, options, [&](const RowOutcome& outcome) {
    ++rows[static_cast<size_t>(outcome.state)];
    identity.add(attnprof::table_of(result, outcome).key(outcome.row));
    if (is_told(outcome.state)) found.add(outcome);
  });
  causes = found.take();
  for (size_t i = most_causes; i < causes.size(); ++i) rows_of_more += causes[i].rows;
  more_causes = causes.size() - std::min(causes.size(), most_causes);
  causes.erase(causes.end() - static_cast<std::ptrdiff_t>(more_causes), causes.end());
  for (Cause& cause : causes) sort_metrics(cause);
  count_alike(result, options, identity, causes);
}

size_t GateReport::all_rows() const { return std::accumulate(rows.begin(), rows.end(), size_t{0}); }

const Table& GateReport::table_of(const Cause& cause) const {
  return cause.state == RowState::missing ? *result.baseline : *result.current;
}

std::string GateReport::label(const Cause& cause) const {
  return table_of(cause).label(cause.first,
                               cause.rows == 1 ? identity.others() : cause.identity.beyond(identity));
}

std::string GateReport::caption() const {
  if (all_rows() == 0) return "";
  const bool paired = !result.pairs.empty();
  const Table& table =
      paired || result.events.front().kind != Event::Kind::missing ? *result.current : *result.baseline;
  const size_t row = paired                     ? result.pairs.front().current
                     : &table == result.current ? result.events.front().current
                                                : result.events.front().baseline;
  return table.label(row, identity.columns());
}

}  // namespace attnprof
