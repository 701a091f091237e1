#include "base/csv.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace attnprof {
namespace {

// libcsv's parser with the record in hand; fed line by line so that the offset of every record is known.
// Fields are kept from record to record, so that a long file costs no allocation a cell.
class Parser {
 public:
  Parser(std::string_view file, const RecordSink& sink) : file_(file), sink_(sink) {
    csv_init(&parser_, CSV_STRICT);
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });  // spaces belong to a field
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // One line of the file, with its line end.
  void feed(std::string_view line, size_t offset) {
    ++line_;
    offset_ = offset;
    if (!in_record()) begin();
    const size_t parsed = csv_parse(&parser_, line.data(), line.size(), on_field, on_record, this);
    if (error_) std::rethrow_exception(error_);
    if (parsed != line.size()) {
      if (line_ == 1) refuse_other_separator(line, file_);
      throw UsageError(
          fmt::format("{}, line {}: a quote stands in field {} where none "
                      "may; quote the whole field and double quotes inside it",
                      file_, line_, used_ + 1));
    }
  }
  std::optional<TornRecord> torn() const {
    if (!in_record()) return std::nullopt;
    return TornRecord{.line = start_line_, .offset = start_offset_, .fields = used_};
  }

 private:
  bool in_record() const { return used_ > 0 || parser_.pstate != 0; }
  void begin() {
    used_ = 0;
    start_line_ = line_;
    start_offset_ = offset_;
  }
  void add(const char* text, size_t size) {
    if (used_ == fields_.size()) fields_.emplace_back();
    fields_[used_++].assign(text, size);
  }
  // An exception must not pass through libcsv's C frames.
  void deliver() {
    try {
      if (!error_) sink_({start_line_, start_offset_, std::span(fields_).first(used_)});
    } catch (...) {
      error_ = std::current_exception();
    }
    begin();
  }
  static void on_field(void* text, size_t size, void* self) {
    static_cast<Parser*>(self)->add(static_cast<const char*>(text), size);
  }
  static void on_record(int, void* self) { static_cast<Parser*>(self)->deliver(); }

  std::string_view file_;
  const RecordSink& sink_;
  csv_parser parser_{};
  size_t line_ = 0, offset_ = 0, start_line_ = 0, start_offset_ = 0, used_ = 0;
  std::vector<std::string> fields_;
  std::exception_ptr error_;
};

// Just after the next LF, CRLF or CR: libcsv ends a record at each of them, so only then is the offset of the
// next record known.
size_t end_of_line(std::string_view text, size_t offset) {
  size_t end = offset;  // a plain loop: find_first_of calls memchr for every byte
  while (end < text.size() && text[end] != '\r' && text[end] != '\n') ++end;
  if (end == text.size()) return end;
  return end + (text.substr(end).starts_with("\r\n") ? 2 : 1);
}

// `offset`: of the text in its file.
void feed_lines(Parser& parser, std::string_view text, size_t offset) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = end_of_line(text, begin);
    parser.feed(text.substr(begin, end - begin), offset + begin);
    begin = end;
  }
}

}  // namespace

std::optional<TornRecord> for_each_record(std::string_view text, std::string_view file,
                                          const RecordSink& sink) {
  Parser parser(file, sink);
  const std::string_view rows = without_byte_order_mark(text);
  feed_lines(parser, rows, text.size() - rows.size());
  return parser.torn();
}

std::optional<TornRecord> for_each_record(std::istream& stream, std::string_view file,
                                          const RecordSink& sink) {
  Parser parser(file, sink);
  size_t offset = 0;
  for (std::string line; std::getline(stream, line);) {
    if (!stream.eof()) line += '\n';
    const std::string_view rows = offset == 0 ? without_byte_order_mark(line) : std::string_view(line);
    feed_lines(parser, rows, offset + line.size() - rows.size());
    offset += line.size();
  }
  if (stream.bad()) throw UsageError(fmt::format("{} cannot be read to its end", file));
  return parser.torn();
}

void refuse_other_separator(std::string_view header, std::string_view file) {
  if (header.find(',') != std::string_view::npos) return;
  for (const auto& [separator, name] : {std::pair{';', "semicolons"}, {'\t', "tabs"}})
    if (header.find(separator) != std::string_view::npos)
      throw UsageError(
          fmt::format("{}: its fields stand between {}; give a file with commas between them", file, name));
}

CsvText parse_csv(std::string_view text, std::string_view file) {
  CsvText result;
  result.torn = for_each_record(text, file, [&](const RecordView& record) {
    result.records.push_back({record.line, record.offset, {record.fields.begin(), record.fields.end()}});
  });
  return result;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted(2 * text.size() + 2, '\0');
  quoted.resize(csv_write(quoted.data(), quoted.size(), text.data(), text.size()));
  return quoted;
}

std::string csv_record(std::span<const std::string> fields) {
  std::vector<std::string> quoted;
  for (const std::string& field : fields) quoted.push_back(csv_field(field));
  return fmt::format("{}\n", fmt::join(quoted, ","));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::string read_text_file(const std::string& path) {
  check_input(path);
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf()).good())
    if (std::error_code error; std::filesystem::file_size(path, error) != 0 || error)
      throw UsageError(fmt::format("{} cannot be read: give an existing, readable file", path));
  return text.str();
}

}  // namespace attnprof
