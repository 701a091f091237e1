#include "report/table.hpp"
#include "base/json_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <sstream>

#include "base/text_table.hpp"
#include "base/units.hpp"
#include "row/row_csv.hpp"
#include "row/row_json.hpp"
#include "row/schema_docs.hpp"
#include "test_paths.hpp"
#include "testing/row_identity.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Not;

Row row_of(const char* variant, int64_t length, const char* disposition) {
  Row row;
  row.identity = row_identity(variant, 1, length);
  row.status.disposition = disposition;
  if (row.status.disposition != "ok") {
    row.status.reason =
        "needs 275666436096 bytes of device memory (276 GB), 141000000000 are free (141 GB); "
        "and aVeryLongWordWithoutAnySpace";
    return row;
  }
  row.resolved = {.br = 128, .bc = 64, .knobs_used = "-"};
  row.verify.verified = "yes";
  row.latency.median_ns = 12'345.6;
  row.counters.hbm_total = 134'217'728;
  row.counters.sm_total = 2'147'483'648;
  row.roofline.useful_tflops_per_s = 297.3;
  row.roofline.roof_pct = 61.23;
  row.roofline.mfu_pct = 30;
  row.roofline.hbm_intensity = 256;
  row.roofline.bound = "tensor";
  return row;
}

std::vector<Row> sweep_rows() {
  std::vector<Row> rows;
  for (int64_t length : {512, 16384})
    for (const char* variant : {"naive", "standard", "flash1", "flash2"})
      rows.push_back(row_of(variant, length, length == 16384 && rows.size() == 4 ? "skipped" : "ok"));
  return rows;
}

class TableWidth : public testing::TestWithParam<size_t> {};

TEST_P(TableWidth, NoLineIsWiderAndEveryRowIsOneLine) {
  const auto lines =
      lines_of(format_table(sweep_rows(), {.width = GetParam(), .color = false, .columns = {}}));
  for (const std::string& line : lines) EXPECT_LE(line.size(), GetParam()) << line;
  ASSERT_GT(lines.size(), 9u);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_THAT(lines[i + 2], testing::StartsWith(sweep_rows()[i].identity.variant));
  EXPECT_THAT(lines.back(), HasSubstr("columns hidden"));
}
INSTANTIATE_TEST_SUITE_P(Terminals, TableWidth, testing::Values(80, 120, 200));

TEST(Table, ShowsWhatVariesAndTheKeyFiguresInHumanUnits) {
  const std::string table = format_table(sweep_rows(), {.width = 120, .color = false, .columns = {}});
  for (const char* part :
       {"variant", " N ", "us", "12.3", "TFLOP/s", "297", "MB", "134", "2147", "%", "61.2", "tensor", "yes"})
    EXPECT_THAT(table, HasSubstr(part));
  for (const char* part : {"dtype", "heads", "q_len", "cache", "\x1b"})
    EXPECT_THAT(table, Not(HasSubstr(part)));
  EXPECT_THAT(table, HasSubstr("naive skipped: needs 275666436096 bytes"));
}

TEST(Table, At80TheFirstFiguresAreThere) {
  const std::string table = format_table(sweep_rows(), {.width = 80, .color = false, .columns = {}});
  for (const char* part : {"variant", "latency", "rate", "HBM", "SM", "bound", "verified", "flags"})
    EXPECT_THAT(table, HasSubstr(part));
}

TEST(Table, At80WhatALineIsWorthIsThereBeforeItsBytes) {
  std::vector<Row> rows = sweep_rows();
  for (Row& row : rows) row.status.flags = "noisy_bytes";
  rows.front().identity.word("mask") = "causal";
  const std::vector<std::string> lines =
      lines_of(format_table(rows, {.width = 80, .color = false, .columns = {}}));
  EXPECT_EQ(lines[0], "variant  mask       N   tile status  latency    rate bound  verified flags");
  EXPECT_EQ(lines[1], "                                          us TFLOP/s");
}

// Units stand in the head, one for all rows.
TEST(Table, ExactlyThis) {
  std::vector<Row> rows = {row_of("naive", 512, "ok"), row_of("flash2", 4096, "ok")};
  rows[0].latency.median_ns = 5'910'000;
  rows[0].counters.hbm_total = 2'220'000'000;
  rows[0].status.flags = "throttled";
  EXPECT_EQ(format_table(rows, {.width = 80, .color = false, .columns = {}}),
            "variant     N  latency     rate   HBM    SM  roof  bound   verified  flags\n"
            "                    us  TFLOP/s    MB    MB     %\n"
            "naive     512     5910      297  2220  2147  61.2  tensor  yes       throttled\n"
            "flash2   4096     12.3      297   134  2147  61.2  tensor  yes       -\n"
            "68 columns hidden: --columns NAMES shows others, -o FILE.csv keeps all\n");
}

// Ten rows of results/, as a terminal of 92 columns shows them.
TEST(Table, ReadmesExampleIsWhatItShows) {
  std::vector<Row> rows = read_rows(ATTNPROF_SOURCE_DIR "/results/h200/sweeps/forward.csv").rows;
  std::erase_if(rows, [](const Row& row) {
    const Identity& id = row.identity;
    return id.count("batch") != 1 || id.count("head_dim") != 128 || id.word("mask") != "full" ||
           (id.count("q_len") != 512 && id.count("q_len") != 4096);
  });
  ASSERT_EQ(rows.size(), 10u);
  std::vector<std::string> lines = lines_of(format_table(rows, {.width = 92, .color = false, .columns = {}}));
  lines.pop_back();  // how many columns are hidden
  std::string example;
  for (const std::string& line : lines) example += "    " + line + "\n";
  EXPECT_THAT(text_of(ATTNPROF_SOURCE_DIR "/README.md"), HasSubstr("\n\n" + example + "\n"));
}

TEST(Table, HiddenColumnsAreCounted) {
  const std::vector<Row> rows = {row_of("flash2", 512, "ok")};
  const TableStyle two{
      .width = 80, .color = false, .columns = {find_column("variant"), find_column("hbm_bytes")}};
  EXPECT_EQ(format_table(rows, two), "variant  hbm_bytes\nflash2      134 MB\n");
  TableStyle narrow = two;
  narrow.width = 10;
  EXPECT_THAT(format_table(rows, narrow), HasSubstr("1 columns"));
}

TEST(Table, ColorIsOnlyWhereAsked) {
  EXPECT_THAT(format_table(sweep_rows(), {.width = 120, .color = true, .columns = {}}),
              HasSubstr("\x1b[33mskipped"));
}

TEST(Table, AColumnWiderThanTheTerminalIsCutWithColourToo) {
  const TableStyle style{
      .width = 20, .color = true, .columns = {find_column("reason"), find_column("variant")}};
  const std::vector<std::string> lines = lines_of(format_table(sweep_rows(), style));
  for (const std::string& line : std::span(lines).first(sweep_rows().size() + 1))
    EXPECT_LE(line.size() - (line.find("\x1b[0m") == std::string::npos ? 0 : 8), 20u) << line;
}

TEST(Table, ALineEndInACellBreaksNoLine) {
  Row row = row_of("naive", 512, "skipped");
  row.status.reason = "error:\n\tline 2";
  EXPECT_EQ(human_cell(*find_column("reason"), row), "error:  line 2");
}

TEST(Table, NoRowsIsSaid) { EXPECT_EQ(format_table({}, {}), "no rows\n"); }

TEST(Units, ThreeDigits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(999'700), "1.00 MB");
  EXPECT_EQ(human_bytes(1'536), "1.54 kB");
  EXPECT_EQ(human_bytes(275'666'436'096), "276 GB");
  EXPECT_EQ(human_time_ns(850), "850 ns");
  EXPECT_EQ(human_time_ns(12'345), "12.3 us");
  EXPECT_EQ(human_time_ns(1.5e6), "1.50 ms");
  EXPECT_EQ(human_time_ns(2e12), "2000 s");
  EXPECT_EQ(human_number(0.0005), "0.0005");
  EXPECT_EQ(human_number(45.67), "45.7");
  EXPECT_EQ(human_flops(1'073'741'824), "1.07 GFLOP");
}

TEST(Json, NumbersAreNumbersAndAbsentIsNull) {
  EXPECT_EQ(rows_as_json({row_of("flash2", 512, "ok")},
                         {find_column("variant"), find_column("q_len"), find_column("latency_median_ns"),
                          find_column("reason"), find_column("samples")}),
            "[\n  {\n    \"variant\": \"flash2\",\n    \"q_len\": 512,\n    \"latency_median_ns\": 12345.6,\n"
            "    \"reason\": null,\n    \"samples\": null\n  }\n]\n");
}

TEST(SchemaDocs, HaveEveryColumnOnce) {
  const auto lines = schema_lines();
  ASSERT_EQ(lines.size(), schema().size() + 1);
  const std::string table = markdown_table(lines);
  for (const Column& column : schema())
    EXPECT_THAT(table, HasSubstr("\n| " + std::string(column.name) + " | "));
  EXPECT_EQ(markdown_table({{"a", "b"}, {"1|2", "3"}}), "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n");
}

TEST(Layout, ASenselessWidthIsNone) {
  const auto width_of = [](const char* columns) {
    setenv("COLUMNS", columns, 1);
    const size_t width = terminal_width();
    unsetenv("COLUMNS");
    return width;
  };
  EXPECT_EQ(width_of("77"), 77u);
  EXPECT_EQ(width_of("99999999999"), 10'000u);
  EXPECT_EQ(width_of("99999999999999999999999"), 10'000u);
  for (const char* columns : {"0", "-5", "", "80x"}) EXPECT_LE(width_of(columns), 500u) << columns;
}

TEST(Layout, WrapsAtTheWidth) {
  EXPECT_EQ(wrap_text("one two three", 9, "  "), "  one two\n  three\n");
  EXPECT_EQ(format_text_table({{"a", "long text here"}, {"bbb", "x"}}, 10), "a    lo...\nbbb  x\n");
}

}  // namespace
}  // namespace attnprof
