// The command line of `attnprof explain`.
#include "cli/options_explain.hpp"

#include "explain/explanation.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

constexpr const char* explain_footer =
    "For every row that is ok: the time each resource alone would need, which binds, how much of the SMs' "
    "room is\n"
    "idle, what other tiles are predicted to take, and findings. With --against the speedup over the other "
    "variant's\n"
    "row of the same problem (its own run and tile first) as a product of factors and a remainder.\n\n"
    "--case takes COLUMN=VALUE pairs with commas between, all of which a row must have; given several times, "
    "a row\n"
    "must have those of one. N is q_len and kv_len; numbers may end in k.\n\n"
    "Examples:\n"
    "  attnprof explain out.csv                                          a line a row\n"
    "  attnprof explain out.csv --case variant=flash2,N=4k,head_dim=128  all of it\n"
    "  attnprof explain out.csv --case variant=flash2 --against naive --format json -o explain.json\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a malformed file, 3 no row to explain or the output cannot be "
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

}  // namespace

ExplainParser::ExplainParser(CLI::App& root)
    : app_(*root.add_subcommand("explain",
                                "Say why rows are as fast as they are, and what a gain is made of")) {
  app_.footer(explain_footer);
  add_result_files(app_, command_.files);
  app_.add_option("--case", command_.cases, "Rows to explain; repeatable; without it, all")
      ->allow_extra_args(false)
      ->type_name("COLUMN=VALUE,...");
  add_name(app_, "--against", command_.against, "Split the speedup over this variant into factors",
           "VARIANT");
  app_.add_option("--tile", tiles_, "Tiles to predict beside the neighbours of a row's own; 128x64,64x64")
      ->allow_extra_args(false)
      ->type_name("BRxBC,...");
  app_.add_option("--format", format_, "table or json")->default_str(format_);
  add_name(app_, "-o,--output", command_.output, "File to write; without it, standard output", "FILE");
  app_.add_flag("--overwrite", command_.overwrite, "Write over FILE");
}

ExplainCommand ExplainParser::command() {
  command_.format = choice<Format>("--format", format_, {{"table", Format::table}, {"json", Format::json}});
  if (command_.overwrite && command_.output.empty())
    throw UsageError("--overwrite needs a file; give -o FILE");
  if (!tiles_.empty())
    for (const std::string& tile : parse_words("--tile", tiles_)) command_.tiles.push_back(parse_tile(tile));
  return command_;
}

}  // namespace attnprof
