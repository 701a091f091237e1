// One set of rules for rows: what the gate's reader refuses, every other reader does, in the same sentence.
#include "row/row_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "row/flag_names.hpp"
#include "row/row_csv.hpp"
#include "test_paths.hpp"
#include "testing/gate_files.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A measured row with these cells replaced, as a file.
std::string with(const std::vector<std::pair<std::string, std::string>>& cells) {
  const std::vector<const Column*> columns = all_columns();
  std::vector<std::string> fields;
  for (const Column* column : columns) fields.push_back(cell(*column, measured_row()));
  for (const auto& [name, text] : cells)
    fields.at(static_cast<size_t>(std::ranges::find(columns, name, &Column::name) - columns.begin())) = text;
  return csv_header(columns) + csv_record(fields);
}

std::string refusal_of_rows(const std::string& text) {
  try {
    parse_rows(text, "f.csv");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal_of_the_gate(const std::string& text) {
  try {
    std::istringstream stream(text);
    const Table table(stream, "f.csv", {}, default_metrics());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

void expect_refused(const std::string& column, const std::string& text, const std::string& why) {
  const std::string sentence = refusal_of_rows(text);
  EXPECT_THAT(sentence, AllOf(HasSubstr("f.csv, line 2, column " + column + ": "), HasSubstr(why))) << text;
  EXPECT_EQ(sentence, refusal_of_the_gate(text));
}

void expect_taken(const std::string& text) {
  EXPECT_EQ(refusal_of_rows(text), "accepted") << text;
  EXPECT_EQ(refusal_of_the_gate(text), "accepted") << text;
}

TEST(RowRules, ARowAsItIsMeasuredIsTaken) { expect_taken(with({})); }

TEST(RowRules, SignAndRangeOfNumbers) {
  expect_refused("hbm_bytes", with({{"hbm_bytes", "-1"}}), "-1 is below 0; no row of attnprof has that");
  expect_refused("hbm_bytes", with({{"hbm_bytes", "9000000000000000000"}}), "is above 4.61169e+18");
  expect_refused("heads", with({{"heads", "-16"}}), "-16 is below 0");
  expect_refused("registers", with({{"registers", "1.5"}}), "'1.5' is not a whole number");
  expect_refused("rel_err", with({{"rel_err", "-0.1"}}), "-0.1 is below 0");
  expect_refused("rel_err", with({{"rel_err", "nan"}}), "'nan' is not a finite number");
  for (const char* column : {"latency_median_ns", "latency_p90_ns"})
    expect_refused(column, with({{column, "1e308"}}), "1e308 is above 1e+18");
  expect_refused("latency_median_ns", with({{"latency_median_ns", "0"}}), "0 is below 1e-09");
  expect_refused("roof_pct", with({{"roof_pct", "1e300"}}), "is above 1e+30");
  expect_taken(with({{"drift_pct", "-3.5"}}));
  expect_taken(with({{"useful_flops", "9223372036854775807"}}));
}

TEST(RowRules, IntervalsHaveTheMedianWithinThem) {
  expect_refused("latency_ci95_low_ns", with({{"latency_ci95_low_ns", "2e6"}}), "it is above the median");
  expect_refused("latency_ci95_high_ns", with({{"latency_ci95_high_ns", "9e5"}}), "it is below the median");
  expect_refused("latency_min_ns", with({{"latency_min_ns", "1e7"}}), "it is above the median");
  expect_refused("latency_p90_ns", with({{"latency_p90_ns", "9e5"}}), "it is below the median");
  expect_refused("latency_ci95_low_ns", with({{"latency_median_ns", ""}, {"latency_source", "model"}}),
                 "it has a value, and the median has none");
}

TEST(RowRules, WordsOfClosedLists) {
  expect_refused("disposition", with({{"disposition", "fine"}}),
                 "'fine' is none of ok, skipped, incorrect, failed");
  expect_refused("verified", with({{"verified", "maybe"}}), "'maybe' is none of yes, no, unchecked");
  expect_refused("backend", with({{"backend", "tpu"}}), "'tpu' is none of gpu, sim");
  expect_refused("cache", with({{"cache", "hot"}}), "'hot' is none of cold, warm, as_found");
  expect_refused("latency_source", with({{"latency_source", "guess"}}), "'guess' is none of cuda_events");
  expect_refused("bytes_source", with({{"bytes_source", "guess"}}), "'guess' is none of cupti");
  expect_refused("flags", with({{"flags", "drift;odd"}}), "'odd' is none of above_ceiling");
  expect_taken(with({{"flags", "drift;graph"}}));
  expect_taken(
      with({{"dtype", "int4"}, {"mask", "-"}, {"bound", "link"}}));  // of other tools, and of later levels
}

TEST(RowRules, WhatARowMustHave) {
  expect_refused("tile", with({{"tile", ""}}), "it is empty, and rows are matched by it");
  expect_refused("kv_len", with({{"kv_len", ""}}), "it is empty, and rows are matched by it");
  expect_refused("latency_median_ns",
                 with({{"latency_median_ns", ""}, {"latency_ci95_low_ns", ""}, {"latency_ci95_high_ns", ""}}),
                 "it is empty, though the row is ok and was timed");
  expect_refused("sm_bytes", with({{"sm_bytes", ""}}), "it is empty, though the row is ok and was counted");
  expect_taken(with({{"sm_bytes", ""}, {"disposition", "failed"}}));
}

TEST(RowRules, AnotherSchemaIsRefused) {
  expect_refused("schema", with({{"schema", "99"}}), "a newer attnprof wrote schema 99, and this one (");
  expect_refused("schema", with({{"schema", "0"}}), "no attnprof wrote schema '0'");
  expect_refused("schema", with({{"schema", "one"}}), "no attnprof wrote schema 'one'");
  expect_taken(with({{"schema", ""}}));
  EXPECT_FALSE(unreadable_schema(schema_version));
}

// Columns of other tools may hold anything, and rows may lack ours.
TEST(RowRules, OtherColumnsAreNotLookedAt) {
  std::string text = with({});
  text.insert(text.rfind('\n'), ",-1e999");
  text.insert(text.find('\n'), ",mood");
  expect_taken(text);
}

TEST(RowRules, EveryFlagHasANameOfItsOwn) {
  const std::set<std::string_view> names(flag_names().begin(), flag_names().end());
  EXPECT_EQ(names.size(), flag_names().size());
  for (size_t i = 0; i < flag_names().size(); ++i)
    EXPECT_EQ(to_string(static_cast<Flag>(i)), flag_names()[i]);
}

// What was measured and is kept obeys them.
TEST(RowRules, CommittedRowsAreTaken) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(ATTNPROF_SOURCE_DIR "/results/h200")) {
    if (entry.path().extension() != ".csv") continue;
    const std::string text = read_text_file(entry.path().string());
    if (text.substr(0, text.find('\n')).find(",disposition,") == std::string::npos) continue;
    EXPECT_NO_THROW(parse_rows(text, entry.path().string()));
    ++files;
  }
  EXPECT_GT(files, 5u);
}

}  // namespace
}  // namespace attnprof
