// What the gate compares: one table of columns, with the direction that is good and what may be lost.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// What --fail-on names. `other`: a column of --metric, which always fails.
enum class Category { latency, bytes, flops, build, other };
std::string_view to_string(Category category);

enum class Direction { lower, higher };  // which is better

// A metric is worse when it lost more than both the share `relative` of the baseline and the amount `floor`.
struct Metric {
  std::string column;
  Category category = Category::other;
  Direction direction = Direction::lower;
  double relative = 0;     // 0.01 is 1 %
  double floor = 0;        // in the column's unit
  bool by_blocks = false;  // more is worse only where it lets fewer blocks onto an SM
  bool optional = false;   // a row may lack it, and is then not compared by it
};

inline constexpr std::string_view ctas_per_sm_column = "ctas_per_sm";

// All gated columns, latency first, with their default thresholds. No kind of file has all of them.
std::vector<Metric> default_metrics();
// Those of them that files of `attnprof compile` or, `of_resources`, of `attnprof resources` have.
std::vector<Metric> build_metrics(const std::vector<Metric>& metrics, bool of_resources);

// What the column holds, for people: "HBM bytes", "spills"; another's column by its name.
std::string human_name(const Metric& metric);
// A value of the column for people: 134 MB, 12.3 us.
std::string human_value(const Metric& metric, double value);
// "more than 1 % and 524 kB": what was exceeded.
std::string human_allowance(const Metric& metric);

// One --metric text, COLUMN:lower|higher:RELATIVE%:FLOOR. Throws UsageError.
Metric parse_metric(std::string_view text);
// "5%" -> 0.05, 0 to 100 %. Throws UsageError naming the option.
double parse_relative(std::string_view option, std::string_view text);
// The floor of latency where none is given, ns: 2 us at a threshold of 5 % and above; below, in proportion,
// so that a tighter threshold still decides for all rows over 40 us.
double default_latency_floor_ns(double relative);

// "512KiB", "2us", "1MB", "100": bytes, ns or a plain number. Throws UsageError naming the option.
double parse_floor_bytes(std::string_view option, std::string_view text);
double parse_floor_ns(std::string_view option, std::string_view text);
double parse_floor_number(std::string_view option, std::string_view text);

}  // namespace attnprof
