#include "row/problem_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "row/row_csv.hpp"
#include "testing/gate_files.hpp"
#include "testing/window_field.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

TEST(ProblemCells, OfAProblemGiveItBack) {
  const Problem problem{
      .dtype = Dtype::fp8, .mask = Mask::causal, .heads = 8, .kv_heads = 2, .q_len = 7, .kv_len = 9};
  EXPECT_EQ(problem_of(ProblemCells(problem)), problem);
}

TEST(ProblemCells, OfNoProblemAreKeptAsTheyAre) {
  ProblemCells cells{Problem{.q_len = 1, .kv_len = 1}};
  cells.word("dtype") = "int4";
  EXPECT_EQ(cells.text("dtype"), "int4");
  EXPECT_EQ(problem_of(cells), std::nullopt);
  cells = ProblemCells(Problem{.heads = 6, .kv_heads = 4, .q_len = 1, .kv_len = 1});
  EXPECT_EQ(problem_of(cells), std::nullopt) << "4 do not divide 6";
  EXPECT_EQ(problem_of(ProblemCells()), std::nullopt) << "empty";
}

TEST(ProblemCells, AFieldOfAnotherKindIsNotGuessed) {
  ProblemCells cells;
  EXPECT_THROW(cells.word("batch"), std::logic_error);
  EXPECT_THROW(cells.count("mask"), std::logic_error);
  EXPECT_THROW(cells.count("breadth"), std::logic_error);
}

// `text` without one of its columns.
std::string without_column(const std::string& text, const std::string& name) {
  const CsvText csv = parse_csv(text, "f.csv");
  const auto& header = csv.records.front().fields;
  const auto at = std::ranges::find(header, name) - header.begin();
  std::string shorter;
  for (const CsvRecord& record : csv.records) {
    std::vector<std::string> fields = record.fields;
    fields.erase(fields.begin() + at);
    shorter += csv_record(fields);
  }
  return shorter;
}

TEST(RowCsv, AColumnThatAFileIsOlderThanHasWhatItsAbsenceMeans) {
  Row row = measured_row();
  row.identity.count("heads") = 12;
  row.identity.count("kv_heads") = 4;
  const std::string text = csv_of({row});
  EXPECT_EQ(parse_rows(without_column(text, "kv_heads"), "f.csv").rows.at(0).identity.count("kv_heads"), 12);
  EXPECT_EQ(parse_rows(without_column(text, "pass"), "f.csv").rows.at(0).identity.word("pass"), "fwd");
  const FurtherField with(window_field);
  EXPECT_EQ(parse_rows(text, "f.csv").rows.at(0).identity.count("window"), 0);
  for (const char* needed : {"variant", "q_len", "mask", "cache"})
    EXPECT_THAT([&] { parse_rows(without_column(text, needed), "f.csv"); },
                testing::ThrowsMessage<UsageError>(std::string("f.csv: column ") + needed +
                                                   " is missing; this is no attnprof CSV"));
}

TEST(RowCsv, AFileKeepsToTheColumnsItBeganWith) {
  const std::string old_header = csv_header(all_columns());
  const auto names = [](const std::string& header) { return parse_header(header, "f.csv"); };
  EXPECT_EQ(columns_of_file(names(old_header)), all_columns());
  const auto old_columns = all_columns();
  const FurtherField with(window_field);
  EXPECT_EQ(all_columns().size(), old_columns.size() + 1);
  ASSERT_TRUE(columns_of_file(names(old_header)));
  EXPECT_EQ(csv_header(*columns_of_file(names(old_header))), old_header);
  EXPECT_EQ(columns_of_file(names(without_column(old_header, "kv_heads"))), std::nullopt)
      << "it always had it";
  EXPECT_EQ(columns_of_file(names(without_column(old_header, "hbm_bytes"))), std::nullopt);
}

}  // namespace
}  // namespace attnprof
