// libFuzzer target: any text as the .meta.json beside rows, through everything that reads one.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"
#include "files/meta.hpp"
#include "files/meta_document.hpp"
#include "files/written_by.hpp"
#include "gate/comparable.hpp"
#include "gate/gate.hpp"
#include "gate/report.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

// Ends the program so that libFuzzer keeps the input.
void require(bool holds) {
  if (!holds) std::abort();
}

// What `read` gives, or nothing where it refuses with a sentence.
template <class Read>
auto taken(Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    require(*error.what() != 0);
    return std::nullopt;
  }
}

void check_rates(const std::string& text, const std::string& run) {
  if (const auto peaks = taken([&] { return find_peaks(text, run, "m"); }))
    for (const auto& [name, rate] : *peaks) require(std::isfinite(rate) && rate >= 0 && rate < 1e19);
  if (const auto ceilings = taken([&] { return find_ceilings(text, run, "m"); }))
    for (const auto& [name, ceiling] : *ceilings)
      require(std::isfinite(ceiling.median) && ceiling.median > 0 && ceiling.samples >= 0);
}

std::string rows_of(const std::string& run, const std::string& env_id) {
  std::string text = csv_header(all_columns());
  Row row;
  row.identity = {"flash2", ProblemCells(Problem{}), "auto", "-", "cold"};
  row.provenance = {std::string(schema_version), run, env_id, "sim", "h200"};
  row.status.disposition = "ok";
  row.latency.latency_source = "model";
  row.counters.bytes_source = "sim";
  row.counters.hbm_total = row.counters.sm_total = 1000;
  return text + csv_row(all_columns(), row);
}

// Two runs, which the text may know: as the gate meets it on either side.
void check_gate(const std::string& text) {
  std::istringstream old_stream(rows_of("a", "e1")), new_stream(rows_of("b", "e2"));
  const Table old_table(old_stream, "old", {}, default_metrics()),
      new_table(new_stream, "new", {}, default_metrics());
  if (const auto result = taken([&] { return gate({old_table, text}, {new_table, text}, {}); }))
    require(gate_text(GateReport(*result, {})).ends_with('\n'));
}

void fuzz(const std::string& text) {
  if (const auto meta = taken([&] { return parse_meta(text, "m"); })) {
    require(taken([&] { return parse_meta(meta->dump(2), "m"); }).has_value());
    for (const auto& entry : (*meta)["runs"].items()) {
      const std::string& run = entry.key();
      taken([&] { return find_run(text, run, "m"); });
      taken([&] { return comparable_facts(text, run, "m"); });
      check_rates(text, run);
    }
    taken([&] { return other_programs(text, "m"); });
  }
  check_gate(text);
}

}  // namespace
}  // namespace attnprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attnprof::fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
