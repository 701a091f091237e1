// Properties over generated files: what must hold for any rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gate/report.hpp"
#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

// Rows with every shape of value a file can hold: tiny and huge, zero, absent, flagged, not ok.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  size_t number(size_t low, size_t high) { return std::uniform_int_distribution<size_t>(low, high)(random_); }
  bool chance(double share) { return std::bernoulli_distribution(share)(random_); }
  Count amount() {
    if (chance(0.05)) return 0;
    return static_cast<int64_t>(std::exp(std::uniform_real_distribution<double>(0, 40)(random_)));
  }
  Count perhaps() { return chance(0.1) ? Count{} : amount(); }

  // `length` keeps identities apart.
  Row row(int64_t length) {
    Row row = measured_row(length);
    row.identity.variant = chance(0.2) ? "odd, \"quoted\"\nname" : "flash2";
    row.latency.median_ns = std::exp(std::uniform_real_distribution<double>(5, 22)(random_));
    const bool interval = chance(0.8);
    row.latency.ci95_low_ns = interval ? Real{*row.latency.median_ns * (chance(0.5) ? 0.999 : 0.8)} : Real{};
    row.latency.ci95_high_ns = interval ? Real{*row.latency.median_ns * (chance(0.5) ? 1.001 : 1.3)} : Real{};
    if (chance(0.2)) row.counters.bytes_source = "none";
    const bool counted = row.counters.bytes_source == "cupti";
    row.counters.hbm_total = counted ? amount() : perhaps();
    row.counters.hbm_counts = static_cast<int64_t>(number(1, 16));
    row.counters.hbm_spread_pct = *row.counters.hbm_counts == 1 ? Real{} : Real{chance(0.5) ? 0.2 : 20.0};
    row.counters.sm_total = counted ? amount() : perhaps();
    row.counters.executed_tensor_flops = perhaps();
    row.counters.sm_cycles = perhaps();
    row.build.registers = perhaps();
    row.build.spill_bytes = perhaps();
    row.build.smem_bytes = perhaps();
    for (const char* flag : {"drift", "throttled", "gpu_shared", "noisy_bytes"})
      if (chance(0.1)) row.status.flags += (row.status.flags.empty() ? "" : ";") + std::string(flag);
    if (chance(0.1)) row.status = {chance(0.5) ? "skipped" : "failed", "too, \"large\"", ""};
    return row;
  }

  std::vector<Row> rows() {
    std::vector<Row> rows = {measured_row(1)};  // one at least is compared
    const size_t count = number(1, 40);
    for (size_t i = 0; i < count; ++i) rows.push_back(row(static_cast<int64_t>(i) + 2));
    return rows;
  }

  // The file with its columns and rows in another order.
  std::string shuffled(std::vector<Row> rows) {
    std::vector<const Column*> columns = all_columns();
    std::ranges::shuffle(columns, random_);
    std::ranges::shuffle(rows, random_);
    std::string text = csv_header(columns);
    for (const Row& row : rows) text += csv_row(columns, row);
    return text;
  }

 private:
  std::mt19937_64 random_;
};

constexpr uint64_t seeds = 300;

// nvbench#316: the same binary twice gives SLOW and FAST.
TEST(GateProperty, AFileAgainstItselfIsGreen) {
  GateOptions strictest;
  strictest.fail_on.insert(FailOn::ambiguous);
  for (Metric& metric : strictest.metrics) metric.relative = metric.floor = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string text = csv_of(Generator(seed).rows());
    const Outcome outcome = gate_texts(text, text, strictest);
    ASSERT_EQ(outcome.code, 0) << seed << outcome.error << outcome.verdicts;
    ASSERT_EQ(outcome.verdicts, "") << seed;
  }
}

// One row of the file made worse by `change`, which returns false for a row that does not qualify.
void expect_found(const std::function<bool(Row&)>& change, const std::string& verdict) {
  size_t tried = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Generator generator(seed);
    const std::vector<Row> rows = generator.rows();
    std::vector<Row> worse = rows;
    if (!change(worse[generator.number(0, worse.size() - 1)])) continue;
    ++tried;
    const Outcome outcome = gate_texts(csv_of(rows), csv_of(worse));
    ASSERT_EQ(outcome.code, 1) << seed << outcome.error;
    ASSERT_EQ(outcome.verdicts, verdict) << seed;
  }
  EXPECT_GT(tried, seeds / 8);
}

bool grow(const Row& row, Count& count, int64_t least, double factor) {
  if (row.status.disposition != "ok" || !count || *count < least) return false;
  *count = static_cast<int64_t>(std::ceil(static_cast<double>(*count) * factor));
  return true;
}

TEST(GateProperty, TwoPercentMoreHbmBytesAreAlwaysFoundFrom32MBOn) {
  expect_found(
      [](Row& row) {
        // A row that says its own counts scatter by more than that cannot show it: ambiguous.
        return row.counters.hbm_spread_pct.value_or(0) < 1 &&
               grow(row, row.counters.hbm_total, 32'000'000, 1.02);
      },
      "worse hbm_bytes\n");
}

TEST(GateProperty, OnePercentMoreSmBytesAreAlwaysFound) {
  expect_found([](Row& row) { return grow(row, row.counters.sm_total, 1, 1.01); }, "worse sm_bytes\n");
}

TEST(GateProperty, AFifthOfAPercentMoreExecutedFlopsIsAlwaysFound) {
  expect_found([](Row& row) { return grow(row, row.counters.executed_tensor_flops, 1, 1.002); },
               "worse executed_tensor_flops\n");
}

TEST(GateProperty, OrderOfRowsAndColumnsChangesNoVerdict) {
  const auto sorted = [](const Outcome& outcome) {
    std::vector<std::string> lines;
    std::istringstream stream(outcome.verdicts);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return fmt::format("{}", fmt::join(lines, "\n"));
  };
  size_t different = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Generator generator(seed);
    const std::vector<Row> rows = generator.rows();
    std::vector<Row> other = rows;
    for (Row& row : other)
      if (generator.chance(0.3)) row.counters.sm_total = generator.amount();
    const Outcome plain = gate_texts(csv_of(rows), csv_of(other));
    const Outcome shuffled = gate_texts(generator.shuffled(rows), generator.shuffled(other));
    ASSERT_EQ(plain.code, shuffled.code) << seed << plain.error << shuffled.error;
    ASSERT_EQ(sorted(plain), sorted(shuffled)) << seed;
    different += plain.code == 1;
  }
  EXPECT_GT(different, 0u);
}

// However a file is cut or a byte of it changed, it is refused or its verdict is honest: a gated value that
// was lost never turns the gate green where the whole file was red.
TEST(GateProperty, NoCutTurnsARedGateGreen) {
  Row worse = measured_row();
  worse.counters.sm_total = 200'000'000;
  const std::string good = csv_of({measured_row(2048), measured_row()}),
                    bad = csv_of({measured_row(2048), worse});
  ASSERT_EQ(gate_texts(good, bad).code, 1);
  for (size_t cut = 0; cut < bad.size(); ++cut) {
    EXPECT_NE(gate_texts(good, bad.substr(0, cut)).code, 0) << cut;
    EXPECT_NE(gate_texts(good, bad.substr(0, cut) + "\n").code, 0) << cut;
  }
}

// Of any two files: each row that changed is of one cause, and no cause claims more rows than there are.
TEST(GateProperty, CausesShareOutTheRowsThatChanged) {
  size_t several = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Generator generator(seed);
    const std::vector<Row> rows = generator.rows();
    std::vector<Row> other = rows;
    for (Row& row : other) {
      if (generator.chance(0.3)) row.counters.sm_total = generator.amount();
      if (generator.chance(0.2)) row.resolved.br = 128;
      if (generator.chance(0.1)) row.status = {"failed", "", ""};
    }
    if (generator.chance(0.3)) other.pop_back();
    std::istringstream old_stream(csv_of(rows)), new_stream(csv_of(other));
    const GateOptions options;
    const Table old_table(old_stream, "base.csv", {}, options.metrics),
        new_table(new_stream, "new.csv", {}, options.metrics);
    const GateResult result = gate({old_table, {}}, {new_table, {}}, options);
    const GateReport report(result, options);
    size_t told = report.rows_of_more;
    for (const Cause& cause : report.causes) {
      told += cause.rows;
      several += cause.rows > 1;
      ASSERT_LE(cause.rows, cause.of) << seed;
      ASSERT_LE(cause.of, report.all_rows()) << seed;
    }
    ASSERT_EQ(told + report.count(RowState::same) + report.count(RowState::skipped), report.all_rows())
        << seed;
    const bool gone =
        other.size() < rows.size() && rows.back().status.disposition != "ok";  // it never worked
    ASSERT_EQ(report.all_rows(), rows.size() - gone) << seed;
    const std::string text = gate_text(report);
    ASSERT_TRUE(text.starts_with(gate_summary(report) + "\n")) << text;
    ASSERT_LE(static_cast<size_t>(std::ranges::count(text, '\n')), report.causes.size() + 6) << text;
    ASSERT_LE(std::ranges::count(gate_annotations(report, "."), '\n'), 20);
  }
  EXPECT_GT(several, seeds);
}

TEST(GateProperty, ManyRows) {
  constexpr size_t rows = 20'000;
  std::string text = csv_header(all_columns());
  for (size_t i = 0; i < rows; ++i) text += csv_row(all_columns(), measured_row(static_cast<int64_t>(i) + 1));
  Row worse = measured_row(rows);
  worse.counters.sm_total = 102'000'000;
  std::string changed = text.substr(0, text.rfind('\n', text.size() - 2) + 1) + csv_row(all_columns(), worse);
  const Outcome outcome = gate_texts(text, changed);
  EXPECT_EQ(outcome.code, 1) << outcome.error;
  EXPECT_EQ(outcome.verdicts, "worse sm_bytes\n");
}

}  // namespace
}  // namespace attnprof
