#include "run/pipeline.hpp"

#include <new>

#include "model/predict.hpp"
#include "plan/identity.hpp"
#include "roofline/row_roofline.hpp"

namespace attnprof {
namespace {

void finish(Row& row, const char* disposition, const std::string& reason = "") {
  row.status.disposition = disposition;
  row.status.reason = reason;
}

// A wrong output gets no speed; an error leaves what was known before it.
void measure(const Case& c, Backend& backend, double case_timeout_s, Row& row) {
  row.model = predict(c, backend.info().device, {.seconds = case_timeout_s});
  row.build = backend.prepare(c);
  row.verify = backend.verify();
  if (row.verify.verified == "no") return finish(row, "incorrect", row.verify.reason);
  row.latency = backend.time(row.status);
  row.counters = backend.count(row.status);
  fill_roofline(row, backend.info().device, backend.info().ceilings);
  finish(row, "ok");
}

Row run_case(const Case& c, Backend& backend, const SweepRun& run) {
  Row row;
  row.identity = identity_of(c);
  row.provenance = run.provenance;
  row.resolved = resolved_of(c);
  if (c.skip) {
    finish(row, "skipped", *c.skip);
    return row;
  }
  try {
    measure(c, backend, run.options.case_timeout_s, row);
  } catch (const CaseSkipped& skipped) {
    finish(row, "skipped", skipped.what());
  } catch (const CaseFailed& failed) {
    finish(row, "failed", failed.what());
  } catch (const std::bad_alloc&) {
    finish(row, "failed", "the host's memory is not enough for this case; give smaller sizes");
  }
  return row;
}

}  // namespace

ExitCode run_sweep(const std::vector<Case>& cases, Backend& backend, const SweepRun& run) {
  backend.announce(cases);
  const auto stopped = [&] { return run.stop && *run.stop; };
  bool measured = false, wrong = false;
  for (size_t index = 0; index < cases.size(); ++index) {
    if (stopped()) return ExitCode::interrupted;
    for (SweepObserver* observer : run.observers) observer->begin_case(cases[index], index, cases.size());
    const Row row = run_case(cases[index], backend, run);
    for (SweepObserver* observer : run.observers) observer->end_case(row);
    measured |= row.status.disposition == "ok";
    wrong |= row.status.disposition == "incorrect" || row.status.disposition == "failed";
  }
  if (stopped()) return ExitCode::interrupted;
  if (wrong) return ExitCode::failed;
  return measured ? ExitCode::ok : ExitCode::environment;
}

}  // namespace attnprof
