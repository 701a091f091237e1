#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "base/distinct_files.hpp"
#include "base/nearest.hpp"
#include "base/output_file.hpp"
#include "base/replace_file.hpp"
#include "base/standard_streams.hpp"
#include "base/text_table.hpp"
#include "cli/command.hpp"
#include "cli/flags/format.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "explain/explanation.hpp"
#include "files/meta.hpp"
#include "plan/grammar.hpp"
#include "schedule/variant.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

struct ExplainCommand {
  std::vector<std::string> files;
  std::vector<std::string> cases;  // selectors (explain/selector.hpp); none: every row
  std::string against;             // variant; empty: none
  std::vector<TileRequest> tiles;  // predicted beside the neighbours of a row's own
  Format format = Format::table;   // table or json
  std::string output;              // empty: standard output
  bool overwrite = false;
};

constexpr const char* explain_footer =
    "For every row that is ok: the time each resource alone would need, which binds, how much of the SMs' room is\n"
    "idle, what other tiles are predicted to take, and findings. With --against the speedup over the other variant's\n"
    "row of the same problem (its own run and tile first) as a product of factors and a remainder.\n\n"
    "--case takes COLUMN=VALUE pairs with commas between, all of which a row must have; given several times, a row\n"
    "must have those of one. N is q_len and kv_len, d is head_dim; numbers may end in k.\n\n"
    "Examples:\n"
    "  attnprof explain out.csv                                   a line a row\n"
    "  attnprof explain out.csv --case variant=flash2,N=4k,d=128  all of it\n"
    "  attnprof explain out.csv --case variant=flash2 --against naive\n"
    "  attnprof explain out.csv --format json -o explain.json\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a malformed file, 3 no row to explain, or the output cannot be "
    "written.";

// A side is checked here as far as predictions go; what a variant cannot run is left out of
// them.
TileRequest parse_tile(const std::string& text) {
  const size_t at = text.find('x');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw UsageError(fmt::format("--tile '{}' is no tile; give Br x Bc, such as 128x64", text));
  const auto side = [&](std::string_view digits) {
    const int64_t rows = whole_number("--tile", digits, 1'000'000);
    if (rows < least_tile_side || rows > most_tile_side)
      throw UsageError(fmt::format("--tile '{}': a side of {} cannot be predicted; give sides from {} to {}",
                                   text, rows, least_tile_side, most_tile_side));
    return static_cast<int>(rows);
  };
  const std::string_view view = text;
  return {.br = side(view.substr(0, at)), .bc = side(view.substr(at + 1))};
}

class ExplainParser {
 public:
  explicit ExplainParser(CLI::App& app);
  ExplainCommand options(const Args&);

 private:
  ExplainCommand command_;
  std::vector<std::string> tiles_;
  std::string format_ = "table";
};

ExplainParser::ExplainParser(CLI::App& app) {
  app.footer(explain_footer);
  add_result_files(app, command_.files);
  app.add_option("--case", command_.cases, "Rows to explain; repeatable; without it, all")
      ->allow_extra_args(false)
      ->type_name("COLUMN=VALUE");
  add_name(app, "--against", command_.against, "Split the speedup over this variant into factors", "NAME");
  app.add_option("--tile", tiles_,
                 "Tiles to predict beside the neighbours of a row's own, such as 128x64,64x64")
      ->allow_extra_args(false)
      ->type_name("LIST");
  add_choice(app, "--format", format_, "table|json", "What is written");
  add_output(app, command_.output, "File to write");
  app.add_flag("--overwrite", command_.overwrite, "Write over FILE");
}

ExplainCommand ExplainParser::options(const Args&) {
  command_.format = choice<Format>("--format", format_, {{"table", Format::table}, {"json", Format::json}});
  if (command_.overwrite && command_.output.empty())
    throw UsageError("--overwrite needs a file; give -o FILE");
  if (!tiles_.empty())
    for (const std::string& tile : parse_words("--tile", tiles_)) command_.tiles.push_back(parse_tile(tile));
  return command_;
}

// A name that is in no file may be one of ours without a row, or a slip.
void check_against(const std::string& against, const std::vector<ResultFile>& files) {
  if (against.empty() || find_variant(against)) return;
  std::vector<std::string> known;
  for (const ResultFile& file : files)
    for (const Row& row : file.rows)
      if (std::ranges::find(known, row.identity.variant) == known.end())
        known.push_back(row.identity.variant);
  if (std::ranges::find(known, against) == known.end())
    throw UsageError(fmt::format("--against '{}' is no variant of the files, which have {}{}", against,
                                 fmt::join(known, ", "), did_you_mean(against, known)));
}

std::vector<ResultFile> read_files(const std::vector<std::string>& paths) {
  std::vector<std::string> notices;
  std::vector<ResultFile> files;
  try {
    files = read_result_files(paths, explain_columns(), notices);
  } catch (const Error&) {
    for (const std::string& notice : notices) say(notice);
    throw;
  }
  for (const std::string& notice : notices) say(notice);
  return files;
}

ExitCode explain_command(const ExplainCommand& command) {
  const bool to_file = !command.output.empty();
  check_distinct({command.output}, with_meta(command.files));
  if (to_file) check_new_file(command.output, command.overwrite);
  ExplainRequest request{.cases = {}, .against = command.against, .tiles = command.tiles};
  for (const std::string& text : command.cases) request.cases.push_back(Selector::parse("--case", text));
  const std::vector<ResultFile> files = read_files(command.files);
  check_against(command.against, files);
  const Explanations explanations = explain(files, request);
  for (const std::string& notice : explanations.notices) say(notice);
  const std::string text = command.format == Format::json
                               ? explain_json(explanations)
                               : explain_text(explanations, terminal_width(STDOUT_FILENO));
  if (to_file)
    replace_file(command.output, text);
  else
    print(text);
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry explain_entry;
const CommandEntry explain_entry{"explain",
                                 "Say why rows are as fast as they are, and what a gain is made of",
                                 command_parser<ExplainParser, explain_command>};

}  // namespace attnprof
