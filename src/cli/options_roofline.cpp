// The command lines of `attnprof roofline` and `attnprof published`.
#include "cli/options_roofline.hpp"

namespace attnprof {
namespace {

constexpr const char* roofline_footer =
    "Points: every row that is ok, at its HBM and its SM-side intensity (useful FLOPs a byte), with its "
    "useful\n"
    "and executed TFLOP/s. Roofs: HBM and L2 bandwidth and the peaks of tensor cores and FMA pipes, from\n"
    "ROWS.csv.meta.json where it has them, else from the built-in profile of the device.\n\n"
    "Examples:\n"
    "  attnprof roofline out.csv --plot                            on the terminal\n"
    "  attnprof roofline out.csv -o roofline.csv                   tidy data for a plotting tool of your "
    "own\n"
    "  attnprof roofline out.csv peers.csv --format vega-lite -o roofline.vl.json\n"
    "  attnprof roofline out.csv --format gnuplot | gnuplot -p\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a malformed file, 3 no row to show.";

constexpr const char* published_footer =
    "A row stands beside a figure of its pass, dtype, mask, N, d and class of algorithm. Rates are TFLOP/s "
    "in the\n"
    "half-square convention of the figures (4 d N^2 a head, halved when causal); the ratio is the row's over "
    "the\n"
    "figure's. csv and json have both in exact FLOPs too. Sources: src/published/README.md.\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a malformed file, 3 no row has a figure.";

}  // namespace

RooflineParser::RooflineParser(CLI::App& root)
    : app_(*root.add_subcommand("roofline", "Place rows under their device's roofs, as data or drawn")) {
  app_.footer(roofline_footer);
  add_result_files(app_, command_.files);
  format_option_ =
      app_.add_option("--format", format_, "csv, json, vega-lite or gnuplot")->default_str(format_);
  app_.add_flag("--plot", command_.plot, "Draw on standard output, as wide as the terminal or COLUMNS");
  add_name(app_, "-o,--output", command_.output, "File to write; without it, standard output", "FILE");
  app_.add_flag("--overwrite", command_.overwrite, "Write over FILE");
}

RooflineCommand RooflineParser::command() {
  command_.format = choice<RooflineFormat>("--format", format_,
                                           {{"csv", RooflineFormat::csv},
                                            {"json", RooflineFormat::json},
                                            {"vega-lite", RooflineFormat::vega_lite},
                                            {"gnuplot", RooflineFormat::gnuplot}});
  if (command_.plot && command_.output.empty() && format_option_->count() > 0)
    throw UsageError(
        "--plot draws on standard output; give -o FILE for --format too, or leave one of them out");
  if (command_.overwrite && command_.output.empty())
    throw UsageError("--overwrite needs a file; give -o FILE");
  return command_;
}

PublishedParser::PublishedParser(CLI::App& root)
    : app_(*root.add_subcommand("published", "Hold rows beside figures that others have published")) {
  app_.footer(published_footer);
  add_result_files(app_, command_.files);
  app_.add_option("--format", format_, "table, csv, json or markdown")->default_str(format_);
}

PublishedCommand PublishedParser::command() {
  command_.format = parse_format(format_, true);
  return command_;
}

}  // namespace attnprof
