#include <fmt/format.h>
#include <unistd.h>

#include "base/distinct_files.hpp"
#include "base/output_file.hpp"
#include "base/replace_file.hpp"
#include "base/standard_streams.hpp"
#include "base/text_table.hpp"
#include "cli/command.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "draw/roofline_output.hpp"
#include "files/meta.hpp"

namespace attnprof {
namespace {

enum class RooflineFormat { csv, json, vega_lite, gnuplot };

struct RooflineCommand {
  std::vector<std::string> files;
  RooflineFormat format = RooflineFormat::csv;
  bool plot = false;   // draw on standard output
  std::string output;  // empty: the data goes to standard output, with --plot nowhere
  bool overwrite = false;
};

constexpr const char* roofline_footer =
    "Points: every row that is ok, at its HBM and its SM-side intensity (useful FLOPs a byte), with its useful\n"
    "and executed TFLOP/s. Roofs: HBM and L2 bandwidth and the peaks of tensor cores and FMA pipes, from\n"
    "ROWS.csv.meta.json where it has them, else from the built-in profile of the device.\n\n"
    "Where standard output is a terminal and neither -o nor --format is given, it is drawn there; into a pipe or a "
    "file go the data.\n\n"
    "Examples:\n"
    "  attnprof roofline out.csv                          drawn on the terminal\n"
    "  attnprof roofline out.csv -o roofline.csv          data for a plotting tool\n"
    "  attnprof roofline out.csv --format vega-lite -o roofline.vl.json\n"
    "  attnprof roofline out.csv --format gnuplot | gnuplot -p\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a malformed file, 3 no row to show, or the output cannot be written.";

class RooflineParser {
 public:
  explicit RooflineParser(CLI::App& app);
  RooflineCommand options(const Args&);

 private:
  RooflineCommand command_;
  CLI::Option* format_option_;
  std::string format_ = "csv";
};

RooflineParser::RooflineParser(CLI::App& app) {
  app.footer(roofline_footer);
  add_result_files(app, command_.files);
  format_option_ = add_choice(app, "--format", format_, "csv|json|vega-lite|gnuplot", "What is written");
  app.add_flag("--plot", command_.plot,
               "Draw on standard output, whatever it is, as wide as the terminal or COLUMNS");
  add_output(app, command_.output, "File to write");
  app.add_flag("--overwrite", command_.overwrite, "Write over FILE");
}

RooflineCommand RooflineParser::options(const Args&) {
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
  if (command_.output.empty() && format_option_->count() == 0 && isatty(STDOUT_FILENO)) command_.plot = true;
  refuse_both(command_.plot && is_standard_output(command_.output), "--plot", "-o -");
  return command_;
}

std::string in_format(const RooflineData& data, RooflineFormat format) {
  switch (format) {
    case RooflineFormat::json:
      return roofline_json(data);
    case RooflineFormat::vega_lite:
      return roofline_vega_lite(data);
    case RooflineFormat::gnuplot:
      return roofline_gnuplot(picture_of(data));
    case RooflineFormat::csv:
      break;
  }
  return roofline_csv(data);
}

RooflineData read_data(const std::vector<std::string>& files) {
  std::vector<std::string> notices;
  const auto tell = [&] {
    for (const std::string& notice : notices) say(notice);
  };
  try {
    RooflineData data = collect_roofline(read_result_files(files, roofline_columns(), notices), notices);
    tell();
    return data;
  } catch (const Error&) {
    tell();
    throw;
  }
}

ExitCode roofline_command(const RooflineCommand& command) {
  const bool to_file = !command.output.empty();
  check_distinct({command.output}, with_meta(command.files));
  if (to_file) check_new_file(command.output, command.overwrite);
  const RooflineData data = read_data(command.files);
  const std::string drawing =
      command.plot ? roofline_text(picture_of(data), terminal_width(STDOUT_FILENO)) : "";
  if (to_file)
    replace_file(command.output, in_format(data, command.format));
  else if (!command.plot)
    print(in_format(data, command.format));
  print(drawing);
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry roofline_entry;
const CommandEntry roofline_entry{"roofline", "Place rows under their device's roofs, as data or drawn",
                                  command_parser<RooflineParser, roofline_command>};

}  // namespace attnprof
