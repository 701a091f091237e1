// CSV as RFC 4180 has it, through libcsv: text to records and back.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// One record as read, and where it starts.
struct CsvRecord {
  size_t line = 0;    // 1-based line of the file
  size_t offset = 0;  // byte
  std::vector<std::string> fields;
};

// A last record that was cut: an open quote or no line end. It is never used.
struct TornRecord {
  size_t line = 0;
  size_t offset = 0;
  size_t fields = 0;  // whole ones before the cut
};

// A record while a file is read; its fields are valid until the sink returns.
struct RecordView {
  size_t line;
  size_t offset;
  std::span<const std::string> fields;
};
using RecordSink = std::function<void(const RecordView&)>;

// Hands every whole record to `sink`, in order, holding one at a time; returns what was cut at the end. Rules
// and errors are those of parse_csv.
std::optional<TornRecord> for_each_record(std::string_view text, std::string_view file,
                                          const RecordSink& sink);
std::optional<TornRecord> for_each_record(std::istream& stream, std::string_view file,
                                          const RecordSink& sink);

struct CsvText {
  std::vector<CsvRecord> records;
  std::optional<TornRecord> torn;
};

// LF, CRLF and CR (mixed too), quoted fields with commas, quotes and line ends; a UTF-8 byte order mark is
// skipped. Throws UsageError with file and line for a quote where none may stand.
CsvText parse_csv(std::string_view text, std::string_view file);

// Throws UsageError for a first line with semicolons or tabs where commas should be, as spreadsheets write it
// where the comma is the decimal point.
void refuse_other_separator(std::string_view header, std::string_view file);

// A field as a record holds it: quoted when it has a comma, a quote or a line end.
std::string csv_field(std::string_view text);
// Records end in LF.
std::string csv_record(std::span<const std::string> fields);

// `text` after a UTF-8 byte order mark, which some editors write.
std::string_view without_byte_order_mark(std::string_view text);

// The whole file. Throws UsageError naming it when it cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace attnprof
