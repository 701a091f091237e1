#include "run/sweep_gate.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/standard_streams.hpp"
#include "files/read_meta.hpp"
#include "gate/gate.hpp"
#include "plan/identity.hpp"
#include "row/row_csv.hpp"

namespace attnprof {

SweepGate::SweepGate(SweepGateOptions options)
    : options_(std::move(options)),
      baseline_(read_table(options_.baseline, options_.gate.key, options_.gate.metrics)),
      baseline_meta_(meta_beside(options_.baseline)) {
  if (baseline_.layout().source != Source::results)
    throw UsageError(fmt::format("--gate {}: it is no result of attnprof sweep", options_.baseline));
}

// The rows as a file would hold them: gated through the same reader, to the same precision.
Table SweepGate::table_of(const std::vector<Row>& rows) const {
  const std::vector<const Column*> columns = all_columns();
  std::string text = csv_header(columns);
  for (const Row& row : rows) text += csv_row(columns, row);
  std::istringstream stream(text);
  return Table(stream, options_.current, {}, options_.gate.metrics);
}

template <class Use>
auto SweepGate::outcome(const std::vector<Row>& rows, const std::string& meta, Use use) const {
  const Table current = table_of(rows);
  return use(gate({baseline_, baseline_meta_}, {current, meta}, options_.gate));
}

void SweepGate::check_plan(const std::vector<Case>& cases, const Provenance& provenance,
                           const std::string& meta) const {
  std::vector<Row> planned;
  for (const Case& c : cases) {
    Row row;
    row.identity = identity_of(c);
    row.provenance = provenance;
    row.status.disposition = "skipped";  // until it is measured
    planned.push_back(std::move(row));
  }
  outcome(planned, meta, [&](const GateResult& result) {
    if (result.pairs.empty())
      throw EnvironmentError(
          fmt::format("--gate {}: none of its rows is a case of this plan; give the plan it was made with",
                      options_.baseline));
  });
}

std::set<size_t> SweepGate::ambiguous(const std::vector<Row>& rows, const std::string& meta) const {
  std::set<size_t> again;
  try {
    outcome(rows, meta, [&](const GateResult& result) {
      for (const Comparison& comparison : result.different)
        if (comparison.judgement.verdict == Verdict::ambiguous)
          again.insert(result.pairs[comparison.pair].current);
    });
  } catch (const Error&) {  // `show` meets it again
  }
  return again;
}

bool SweepGate::settle(const std::vector<Row>& rows, const std::string& meta,
                       const Remeasure& remeasure) const {
  for (int retry = 1; retry <= options_.retries; ++retry) {
    const std::set<size_t> again = ambiguous(rows, meta);
    if (again.empty()) break;
    say(fmt::format("gate: {} ambiguous case{} measured again, {} of at most {} times", again.size(),
                    again.size() == 1 ? " is" : "s are", retry, options_.retries));
    for (const size_t row : again)
      if (!remeasure(row)) return false;
  }
  return true;
}

ExitCode SweepGate::show(const std::vector<Row>& rows, const std::string& meta, FILE* stream) const {
  return outcome(rows, meta, [&](const GateResult& result) {
    return show_gate(result, options_.gate, options_.outputs, stream);
  });
}

}  // namespace attnprof
