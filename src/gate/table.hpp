// A CSV file as the gate needs it: identity and gated values of every row, a few hundred bytes each, so that
// files of a million rows fit. Columns are found by name. Everything malformed is a UsageError with file,
// line and column.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gate/metric.hpp"

namespace attnprof {

// Where the rows come from, which decides the identity columns and what else is read.
enum class Source {
  results,    // attnprof sweep
  build,      // attnprof compile -o
  resources,  // attnprof resources -o
  other,      // --key and --metric
};

struct Layout {
  Source source = Source::results;
  std::vector<std::string> key;
  std::vector<Metric> metrics;
};

// Chosen by the header's columns; `key` and `metrics` are those of the command line, `key` empty without
// --key.
Layout layout_of(const std::vector<std::string>& header, const std::vector<std::string>& key,
                 const std::vector<Metric>& metrics);

// Texts of a row that are not its identity. Absent columns are empty: a result file has them all but `error`,
// `asked_tile` and `file`, a build file run, env_id, br, bc, knobs_used and these three (`file`, the kernel's
// source, where it says so), a file of resources run and env_id.
enum class Fact {
  run,
  env_id,
  backend,
  device,
  disposition,
  reason,
  flags,
  latency_source,
  bytes_source,
  br,
  bc,
  knobs_used,
  asked_tile,
  error,
  file,
  count,
};
std::string_view column_of(Fact fact);

// Numbers beside the metrics that a verdict takes into account. Files older than hbm_counts are read without
// it; the last three are of whichever files have them.
enum class Extra {
  ci_low,
  ci_high,
  sm_cycles,
  sm_clock,
  hbm_spread,
  hbm_counts,
  occupancy,
  ctas_per_sm,
  threads,
  count
};
std::string_view column_of(Extra extra);

class Table {
 public:
  // Reads all of `stream`; `file` is its name in errors. Throws UsageError also for a torn last line,
  // duplicate columns and missing required ones.
  Table(std::istream& stream, const std::string& file, const std::vector<std::string>& key,
        const std::vector<Metric>& metrics);

  const std::string& file() const { return file_; }
  const Layout& layout() const { return layout_; }
  const std::vector<std::string>& header() const { return header_; }
  std::vector<std::string> unknown_columns() const;

  size_t rows() const { return lines_.size(); }
  size_t line(size_t row) const { return lines_[row]; }
  std::string_view key(size_t row) const;  // the identity cells as a CSV record without its line end
  std::string label(size_t row) const;     // for people: "flash2 fwd fp16 full batch=1 heads=16 ..."
  // Of these columns of the key alone.
  std::string label(size_t row, const std::vector<bool>& columns) const;
  std::string identity(size_t row, std::string_view column) const;
  const std::string& fact(size_t row, Fact fact) const;
  std::optional<double> value(size_t row, size_t metric) const;
  std::optional<double> extra(size_t row, Extra extra) const;
  std::optional<double> warps(size_t row) const;  // that an SM holds at once, as a share or a number
  bool ok(size_t row) const;                      // it has measurements
  std::string disposition(size_t row) const;
  const std::string& reason(size_t row) const;

 private:
  friend class TableReader;
  // Whether a cell of a key says something: not a later field of the problem at its absent value.
  bool tells(const std::vector<std::string>& cells, size_t column) const;

  std::string file_;
  Layout layout_;
  std::vector<std::string> header_;
  std::vector<uint32_t> lines_;
  std::string key_text_;
  std::vector<uint64_t> key_ends_;
  std::vector<double> values_;  // metrics, then extras; NaN is an empty cell
  std::vector<std::string> texts_;
  std::vector<uint32_t> facts_;  // into texts_
};

Table read_table(const std::string& path, const std::vector<std::string>& key,
                 const std::vector<Metric>& metrics);
// Both at once.
std::pair<Table, Table> read_tables(const std::string& baseline, const std::string& current,
                                    const std::vector<std::string>& key, const std::vector<Metric>& metrics);

}  // namespace attnprof
