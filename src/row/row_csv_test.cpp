#include "row/row_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <locale>
#include <optional>

#include "base/csv.hpp"
#include "base/csv_header.hpp"
#include "base/error.hpp"
#include "testing/row_identity.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Row full_row() {
  Row row;
  for (const Column& column : schema())
    set_cell(column, row,
             std::holds_alternative<std::string*>(column.field(row)) ? "a \"b\", c\r\nd" : "1234567");
  row.identity.cache = "warm";
  row.provenance.schema = schema_version, row.provenance.backend = "gpu";
  row.status.disposition = "ok", row.status.flags = "drift;graph";
  row.verify.verified = "yes";
  row.counters.bytes_source = "cupti";
  row.latency.latency_source = "cuda_events";
  row.latency.median_ns = 1234.5678;
  row.latency.min_ns = row.latency.ci95_low_ns = 1;
  return row;
}

// Empty but for what names it.
Row bare_row() {
  Row row;
  row.identity = row_identity("flash2", 1, 512);
  return row;
}

std::string file_of(const std::vector<Row>& rows) {
  std::string text = csv_header(all_columns());
  for (const Row& row : rows) text += csv_row(all_columns(), row);
  return text;
}

std::string refusal(const std::string& text) {
  try {
    parse_rows(text, "f.csv");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Csv, FieldsAreQuotedOnlyWhenNeeded) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_record(std::vector<std::string>{"", "a", ""}), ",a,\n");
}

TEST(Csv, RowsRoundTripWithCommasQuotesAndLineEnds) {
  const std::string text = file_of({full_row(), bare_row(), full_row()});
  const RowFile file = parse_rows(text, "f.csv");
  ASSERT_EQ(file.rows.size(), 3u);
  EXPECT_FALSE(file.torn);
  EXPECT_EQ(file_of(file.rows), text);
  EXPECT_EQ(file.lines[0], 2u);
}

TEST(Csv, LineNumbersCountLineEndsInsideFields) {
  const CsvText csv = parse_csv("a,b\n\"1\n2\n3\",x\ny,z\n", "f.csv");
  ASSERT_EQ(csv.records.size(), 3u);
  EXPECT_EQ(csv.records[1].line, 2u);
  EXPECT_EQ(csv.records[2].line, 5u);
  EXPECT_EQ(csv.records[2].offset, 14u);
}

TEST(Csv, ByteOrderMarkAndMixedLineEnds) {
  const CsvText csv = parse_csv("\xEF\xBB\xBFvariant,x\r\na,1\nb,2\r\n", "f.csv");
  ASSERT_EQ(csv.records.size(), 3u);
  EXPECT_THAT(csv.records[0].fields, ElementsAre("variant", "x"));
  EXPECT_THAT(csv.records[1].fields, ElementsAre("a", "1"));
  EXPECT_THAT(csv.records[2].fields, ElementsAre("b", "2"));
  EXPECT_FALSE(csv.torn);
}

TEST(Csv, OtherSeparatorsThanCommasAreNamed) {
  const auto refusal = [](const char* text) {
    try {
      std::optional<CsvHeader> header;
      for_each_record(text, "f.csv", [&](const RecordView& record) {
        if (!header) header.emplace(record.fields, record.line, "f.csv");
      });
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(refusal("variant;N\nnaive;512\n"),
            "f.csv: its fields stand between semicolons; give a file with commas between them");
  EXPECT_EQ(refusal("\"variant\";\"N\"\n"),
            "f.csv: its fields stand between semicolons; give a file with commas between them");
  EXPECT_EQ(refusal("variant\tN\n"),
            "f.csv: its fields stand between tabs; give a file with commas between them");
  EXPECT_EQ(refusal("a,flags\n1,x;y\n"), "read");
  EXPECT_EQ(refusal("flags\nx;y\n"), "read") << "one column";
}

TEST(Csv, SpacesBelongToAField) {
  EXPECT_THAT(parse_csv(" a , b\n", "f.csv").records.at(0).fields, ElementsAre(" a ", " b"));
}

TEST(Csv, ColumnsAreFoundByNameInAnyOrderAndUnknownOnesIgnored) {
  std::string header, values;
  for (const Column& column : schema())
    if (column.group == Group::identity) {
      const bool number = !std::holds_alternative<std::string*>(column.field(*std::make_unique<Row>()));
      header = std::string(column.name) + (header.empty() ? "" : ",") + header;
      values = std::string(number                   ? "7"
                           : column.name == "cache" ? "cold"
                                                    : "word") +
               (values.empty() ? "" : ",") + values;
    }
  const RowFile file =
      parse_rows("comment,hbm_bytes," + header + "\n\"hi, there\",42," + values + "\n", "f.csv");
  ASSERT_EQ(file.rows.size(), 1u);
  EXPECT_EQ(file.rows[0].identity.variant, "word");
  EXPECT_EQ(file.rows[0].identity.count("head_dim"), 7);
  EXPECT_EQ(file.rows[0].counters.hbm_total, 42);
  EXPECT_FALSE(file.rows[0].latency.median_ns);
}

TEST(Csv, ATornLastLineIsReportedWithItsLineAndNotUsed) {
  const std::string whole = file_of({full_row(), full_row()});
  const std::string first = file_of({full_row()});
  for (size_t size = first.size() + 1; size < whole.size(); ++size) {
    const RowFile file = parse_rows(whole.substr(0, size), "f.csv");
    ASSERT_EQ(file.rows.size(), 1u) << size;
    ASSERT_TRUE(file.torn) << size;
    EXPECT_EQ(file.torn->offset, first.size());
    EXPECT_EQ(file.torn->line, parse_rows(whole, "f.csv").lines[1]);
  }
}

// A file that went through a tool of another system and was cut: what is kept must be every whole row.
TEST(Csv, ATornLineAfterAnyLineEndStartsAtItsOwnPlace) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string whole = "a,b" + end + "1,2" + end + "3,4" + end;
    const CsvText csv = parse_csv(whole + "5", "f.csv");
    ASSERT_EQ(csv.records.size(), 3u);
    EXPECT_EQ(csv.records[2].line, 3u);
    ASSERT_TRUE(csv.torn);
    EXPECT_EQ(csv.torn->offset, whole.size());
    EXPECT_EQ(csv.torn->line, 4u);
  }
}

TEST(Csv, ATornHeaderHasNoRows) {
  const std::string header = csv_header(all_columns());
  const RowFile file = parse_rows(header.substr(0, 40), "f.csv");
  EXPECT_TRUE(file.torn);
  EXPECT_TRUE(file.rows.empty());
  EXPECT_TRUE(parse_rows("", "f.csv").rows.empty());
}

TEST(Csv, MalformedFilesAreRefusedWithFileAndLine) {
  const std::string header = csv_header(all_columns());
  EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("f.csv: column variant is missing"));
  EXPECT_THAT(refusal("variant," + header + "\n"),
              HasSubstr("f.csv, line 1, column variant: it stands twice"));
  EXPECT_THAT(refusal(header + "flash2,fwd\n"),
              HasSubstr("f.csv, line 2, column pass: the line has 2 fields"));
  EXPECT_THAT(refusal(header + "a\"b\n"), HasSubstr("f.csv, line 2: a quote"));
  Row bad = full_row();
  std::string text = file_of({bad});
  text.replace(text.find("1234567"), 7, "12,3456");
  EXPECT_THAT(refusal(text), HasSubstr("line 2"));
  text = file_of({bad});
  text.replace(text.rfind("1234567"), 7, "12e4567");
  EXPECT_THAT(refusal(text),
              testing::AllOf(HasSubstr("line 2, column "), HasSubstr("is not a whole number")));
}

TEST(Csv, NoFileIsASentence) { EXPECT_THROW(read_rows("/nonexistent/f.csv"), UsageError); }

struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Csv, TheLocaleChangesNoByte) {
  const std::string text = file_of({full_row()});
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  const char* german = std::setlocale(LC_ALL, "de_DE.UTF-8");  // null where the system has none
  const std::string again = file_of({full_row()});
  const std::vector<Row> rows = parse_rows(text, "f.csv").rows;
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(again, text) << (german ? german : "numpunct only");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].latency.median_ns, 1234.57);
}

}  // namespace
}  // namespace attnprof
