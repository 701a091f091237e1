#include <fmt/format.h>

#include <array>

#include "base/distinct_files.hpp"
#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/flags/format.hpp"
#include "cli/flags/names.hpp"
#include "cli/text_output.hpp"
#include "files/meta.hpp"
#include "published/published.hpp"

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
  app.add_option("--format", format_, "table, csv, json or markdown")->default_str(format_);
}

PublishedCommand PublishedParser::options(const Args&) {
  command_.format = parse_format(format_, true);
  return command_;
}

using Line = std::vector<std::string>;

std::string number(double value) { return fmt::format("{:.4g}", value); }
std::string text(const Count& count) { return count ? fmt::format("{}", *count) : ""; }

std::string shape_text(const PublishedMatch& match) {
  if (match.same_shape) return "same shape";
  return fmt::format("batch {}, {} heads, {} of K and V", match.figure->batch, match.figure->heads,
                     match.figure->kv_heads);
}

// For people: what a ratio is of and how far it can be trusted, in one line.
std::vector<Line> short_lines(const std::vector<PublishedMatch>& matches) {
  std::vector<Line> lines = {{"variant", "dtype", "mask", "N", "d", "tile", "TFLOP/s", "GPU", "published",
                              "of", "its GPU", "ratio", "its shape"}};
  for (const PublishedMatch& match : matches) {
    const Identity& row = match.row->identity;
    lines.push_back({row.variant, row.dtype, row.mask, text(row.q_len), text(row.head_dim), row.tile,
                     number(match.half_square_tflops), match.row->provenance.device,
                     number(match.figure->half_square_tflops), match.figure->implementation,
                     match.figure->device, fmt::format("{:.2f}", match.ratio), shape_text(match)});
  }
  return lines;
}

// Everything, under names of their own, for csv and json.
std::vector<Line> full_lines(const std::vector<PublishedMatch>& matches) {
  std::vector<Line> lines = {{"variant",
                              "pass",
                              "dtype",
                              "mask",
                              "batch",
                              "heads",
                              "kv_heads",
                              "q_len",
                              "kv_len",
                              "head_dim",
                              "tile",
                              "knobs",
                              "cache",
                              "device",
                              "half_square_tflops_per_s",
                              "exact_tflops_per_s",
                              "published_half_square_tflops_per_s",
                              "published_exact_tflops_per_s",
                              "ratio",
                              "published_implementation",
                              "published_device",
                              "published_batch",
                              "published_heads",
                              "published_kv_heads",
                              "same_shape",
                              "source"}};
  for (const PublishedMatch& match : matches) {
    const Identity& row = match.row->identity;
    const PublishedFigure& figure = *match.figure;
    lines.push_back({row.variant,
                     row.pass,
                     row.dtype,
                     row.mask,
                     text(row.batch),
                     text(row.heads),
                     text(row.kv_heads),
                     text(row.q_len),
                     text(row.kv_len),
                     text(row.head_dim),
                     row.tile,
                     row.knobs,
                     row.cache,
                     match.row->provenance.device,
                     number(match.half_square_tflops),
                     number(*match.row->roofline.useful_tflops_per_s),
                     number(figure.half_square_tflops),
                     number(figure.exact_tflops),
                     number(match.ratio),
                     figure.implementation,
                     figure.device,
                     fmt::format("{}", figure.batch),
                     fmt::format("{}", figure.heads),
                     fmt::format("{}", figure.kv_heads),
                     match.same_shape ? "yes" : "no",
                     figure.source});
  }
  return lines;
}
const std::vector<size_t> full_numbers = {4, 5, 6, 7, 8, 9, 14, 15, 16, 17, 18, 21, 22, 23};

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
  print(people ? format_lines(short_lines(comparison.matches), command.format)
               : format_lines(full_lines(comparison.matches), command.format, full_numbers));
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry published_entry;
const CommandEntry published_entry{"published", "Hold rows beside figures that others have published",
                                   command_parser<PublishedParser, published_command>};

}  // namespace attnprof
