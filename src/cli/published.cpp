#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "base/distinct_files.hpp"
#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/flags/format.hpp"
#include "cli/flags/names.hpp"
#include "cli/text_output.hpp"
#include "files/meta.hpp"
#include "published/published.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

struct PublishedCommand {
  std::vector<std::string> files;
  Format format = Format::table;
};

constexpr const char* published_footer =
    "A row stands beside a figure of its pass, dtype, mask, N, d and class of algorithm. Rates are TFLOP/s in the\n"
    "half-square convention of the figures (4 d N^2 a head, halved when causal); the ratio is the row's over the\n"
    "figure's. csv and json have both in exact FLOPs too. Sources: src/published/README.md.\n\n"
    "Examples:\n"
    "  attnprof published out.csv\n"
    "  attnprof published out.csv peers.csv --format csv\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a malformed file, 3 no row has a figure.";

class PublishedParser {
 public:
  explicit PublishedParser(CLI::App& app);
  PublishedCommand options(const Args&);

 private:
  PublishedCommand command_;
  std::string format_ = "table";
};

PublishedParser::PublishedParser(CLI::App& app) {
  app.footer(published_footer);
  add_result_files(app, command_.files);
  add_choice(app, "--format", format_, "table|csv|json|markdown", "Standard output");
}

PublishedCommand PublishedParser::options(const Args&) {
  command_.format = parse_format(format_, true);
  return command_;
}

using Line = std::vector<std::string>;

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string shape_text(const PublishedMatch& match) {
  if (match.same_shape) return "same shape";
  const ProblemCells& its = match.figure->problem;
  return fmt::format("batch {}, {} heads, {} of K and V", its.text("batch"), its.text("heads"),
                     its.text("kv_heads"));
}

// Of the identity, those that say something in one of the rows.
std::vector<const Column*> told_columns(const std::vector<PublishedMatch>& matches) {
  std::vector<const Column*> columns = identity_columns();
  std::erase_if(columns, [&](const Column* column) {
    return !tells_in_any(
        *column,
        std::views::transform(matches, [](const PublishedMatch& match) -> const Row& { return *match.row; }));
  });
  return columns;
}

// For people: what a ratio is of and how far it can be trusted, in one line. Of the problem what a figure is
// matched by; its lengths are one.
std::vector<Line> short_lines(const std::vector<PublishedMatch>& matches) {
  std::vector<const Column*> columns = told_columns(matches);
  std::erase_if(columns, [](const Column* column) {
    constexpr std::array left_out = {"pass", "batch", "heads", "kv_heads", "kv_len", "knobs", "cache"};
    return std::ranges::find(left_out, column->name) != left_out.end();
  });
  std::vector<Line> lines(1);
  for (const Column* column : columns) {
    const ProblemField* field = column->problem_field();
    lines.front().emplace_back(!field                      ? column->name
                               : field->twin_title.empty() ? field->short_title()
                                                           : field->twin_title);
  }
  for (const char* title : {"TFLOP/s", "GPU", "published", "of", "its GPU", "ratio", "its shape"})
    lines.front().emplace_back(title);
  for (const PublishedMatch& match : matches) {
    Line& line = lines.emplace_back();
    for (const Column* column : columns) line.push_back(cell(*column, *match.row));
    const Line rest = {number(match.half_square_tflops),
                       match.row->provenance.device,
                       number(match.figure->half_square_tflops),
                       match.figure->implementation,
                       match.figure->device,
                       fmt::format("{:.2f}", match.ratio),
                       shape_text(match)};
    line.insert(line.end(), rest.begin(), rest.end());
  }
  return lines;
}

struct FullColumn {
  const char* title;
  std::string (*text)(const PublishedMatch&);
  bool is_number = false;
};
// After the identity.
constexpr FullColumn full_columns[] = {
    {"device", [](const PublishedMatch& m) { return m.row->provenance.device; }},
    {"half_square_tflops_per_s", [](const PublishedMatch& m) { return number(m.half_square_tflops); }, true},
    {"exact_tflops_per_s",
     [](const PublishedMatch& m) { return number(*m.row->roofline.useful_tflops_per_s); }, true},
    {"published_half_square_tflops_per_s",
     [](const PublishedMatch& m) { return number(m.figure->half_square_tflops); }, true},
    {"published_exact_tflops_per_s", [](const PublishedMatch& m) { return number(m.figure->exact_tflops); },
     true},
    {"ratio", [](const PublishedMatch& m) { return number(m.ratio); }, true},
    {"published_implementation", [](const PublishedMatch& m) { return m.figure->implementation; }},
    {"published_device", [](const PublishedMatch& m) { return m.figure->device; }},
    {"published_batch", [](const PublishedMatch& m) { return m.figure->problem.text("batch"); }, true},
    {"published_heads", [](const PublishedMatch& m) { return m.figure->problem.text("heads"); }, true},
    {"published_kv_heads", [](const PublishedMatch& m) { return m.figure->problem.text("kv_heads"); }, true},
    {"same_shape", [](const PublishedMatch& m) { return std::string(m.same_shape ? "yes" : "no"); }},
    {"source", [](const PublishedMatch& m) { return m.figure->source; }},
};

// Everything, under names of their own, for csv and json.
std::vector<Line> full_lines(const std::vector<PublishedMatch>& matches, std::vector<size_t>& numbers) {
  std::vector<Line> lines(1);
  const auto add_title = [&](std::string_view title, bool is_number) {
    if (is_number) numbers.push_back(lines.front().size());
    lines.front().emplace_back(title);
  };
  const std::vector<const Column*> columns = told_columns(matches);
  for (const Column* column : columns)
    add_title(column->name, column->problem_field() && column->problem_field()->is_count());
  for (const FullColumn& column : full_columns) add_title(column.title, column.is_number);
  for (const PublishedMatch& match : matches) {
    Line& line = lines.emplace_back();
    for (const Column* column : columns) line.push_back(cell(*column, *match.row));
    for (const FullColumn& column : full_columns) line.push_back(column.text(match));
  }
  return lines;
}

void tell_of_rest(const PublishedComparison& comparison) {
  if (!comparison.left_out.empty()) say("not compared: " + describe(comparison.left_out));
  if (comparison.unmatched > 0)
    say(fmt::format("rows without a published figure of their pass, dtype, mask, N, d and algorithm: {}",
                    comparison.unmatched));
}

ExitCode published_command(const PublishedCommand& command) {
  check_distinct({}, with_meta(command.files));
  std::vector<std::string> notices;
  const std::vector<ResultFile> files = read_result_files(command.files, published_columns(), notices);
  for (const std::string& notice : notices) say(notice);
  const std::vector<PublishedFigure> figures =
      parse_published(published_figures_text(), "src/published/figures.csv");
  const PublishedComparison comparison = compare_published(files, figures);
  tell_of_rest(comparison);
  if (comparison.matches.empty())
    throw EnvironmentError("no row has a published figure; src/published/figures.csv lists those there are");
  const bool people = command.format == Format::table || command.format == Format::markdown;
  std::vector<size_t> numbers;
  const std::vector<Line> lines =
      people ? short_lines(comparison.matches) : full_lines(comparison.matches, numbers);
  print(format_lines(lines, command.format, numbers));
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry published_entry;
const CommandEntry published_entry{"published", "Hold rows beside figures that others have published",
                                   command_parser<PublishedParser, published_command>};

}  // namespace attnprof
