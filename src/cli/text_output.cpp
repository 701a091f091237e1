#include "cli/text_output.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "base/json_names.hpp"
#include "base/text_table.hpp"
#include "row/schema_docs.hpp"

namespace attnprof {
namespace {

OrderedJson json_cell(const std::string& text, bool number) {
  if (text.empty()) return OrderedJson();
  return number ? OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false) : OrderedJson(text);
}

std::string as_json(const std::vector<std::vector<std::string>>& lines, const std::vector<size_t>& numbers) {
  OrderedJson all = OrderedJson::array();
  for (size_t i = 1; i < lines.size(); ++i) {
    OrderedJson object = OrderedJson::object();
    for (size_t column = 0; column < lines[i].size(); ++column)
      object[lines.front()[column]] =
          json_cell(lines[i][column], std::ranges::find(numbers, column) != numbers.end());
    all.push_back(std::move(object));
  }
  return all.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string format_lines(const std::vector<std::vector<std::string>>& lines, Format format,
                         const std::vector<size_t>& numbers) {
  if (format == Format::json) return as_json(lines, numbers);
  if (format == Format::markdown) return markdown_table(lines);
  if (format == Format::table) return format_text_table(lines, terminal_width());
  std::string text;
  for (const auto& line : lines) text += csv_record(line);
  return text;
}

}  // namespace attnprof
