// Matches the rows of two files and judges every gated metric.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gate/metric.hpp"
#include "gate/table.hpp"
#include "gate/verdict.hpp"

namespace attnprof {

// What may make the gate fail; `other` metrics always do.
enum class FailOn { latency, bytes, flops, build, missing, ambiguous };

// What the first file is, which decides words and advice: a file that is kept and renewed, or the other side
// of a pull request, measured for this gate alone.
enum class Against { baseline, merge_base };
std::string_view place_of(Against against);  // "in the baseline"

struct GateOptions {
  std::vector<std::string> key;  // of --key; empty: attnprof's own files
  std::vector<Metric> metrics = default_metrics();
  std::string run = "last";               // of the current file: last, newest (of every identity), or an id
  bool allow_missing = false;             // rows that are absent or skipped are no failure
  std::set<std::string> allow_different;  // fields that need not agree
  std::set<FailOn> fail_on = {FailOn::latency, FailOn::bytes, FailOn::flops, FailOn::build, FailOn::missing};
  Against against = Against::baseline;
  std::vector<std::string> given;  // words of the command line that say the above, for advice that repeats it
  bool renewable = true;           // a further command can read both files again
};

// A file and what describes its runs.
struct GateInput {
  const Table& table;
  std::optional<std::string> meta;  // text of the .meta.json file, nothing when there is none
};

struct RowPair {
  uint32_t baseline, current;
  bool time, counts;      // compared, or left out: another driver, another source
  uint16_t compared = 0;  // metrics
};

// Same tile and knobs in force.
bool same_resolved(const Table& baseline, const Table& current, const RowPair& pair);

struct Comparison {
  size_t pair, metric;
  double baseline, current;
  double worsening;  // share of the baseline
  Judgement judgement;
};

struct Event {
  enum class Kind { not_ok, missing, tile, now_ok, added };
  Kind kind;
  size_t baseline, current;  // rows; one of them means nothing for missing and added
};
std::string_view to_string(Event::Kind kind);

// Where the sources of kernels lie that rows were made of, and a hash of them all, or the commit of their
// repository and how many of its files differ from it.
struct KernelSources {
  std::string path, hash;
  size_t uncommitted = 0;
  bool operator==(const KernelSources&) const = default;
};

struct GateResult {
  const Table* baseline;
  const Table* current;
  std::vector<RowPair> pairs;         // in the order of the current file
  std::vector<Comparison> different;  // every verdict but `same`, worst first
  std::vector<Event> events;          // worst kind first
  size_t compared = 0;                // metrics of rows
  size_t scattered = 0;               // rows whose HBM bytes are known no better than the threshold
  double worst_scatter = 0;           // the largest uncertainty of these
  size_t worst_scattered = 0;         // and its pair
  size_t in_other_runs = 0;           // missing rows that runs of the current file have which were not chosen
  std::vector<std::string> warnings;
  std::vector<KernelSources> baseline_kernels, current_kernels;  // empty: the files do not say
  bool failed = false;

  size_t count(Verdict verdict) const;
  size_t count(Event::Kind kind) const;
  // Neither a value nor an end: rows that are no longer ok are a regression, also where no other row is left.
  bool compared_nothing() const;
  ExitCode exit_code() const;  // environment when nothing was compared
};

// The verdict on one metric of a pair; nothing where it is not compared. Throws UsageError when a value that
// the baseline has is missing.
std::optional<Comparison> compare(const Table& baseline, const Table& current, const RowPair& pair,
                                  size_t metric);

// Throws UsageError for duplicate rows and missing values, EnvironmentError when the files are not
// comparable. The tables must outlive the result.
GateResult gate(const GateInput& baseline, const GateInput& current, const GateOptions& options);

// Does this verdict fail the gate?
bool fails(const GateOptions& options, Category category, Verdict verdict);
bool fails(const GateOptions& options, const GateResult& result, const Event& event);

}  // namespace attnprof
