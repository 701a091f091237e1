#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/fitted_table.hpp"
#include "base/text_table.hpp"
#include "base/units.hpp"
#include "explain/explanation.hpp"

namespace attnprof {
namespace {

using Line = std::vector<std::string>;

// Up to so many, everything of each is printed.
constexpr size_t few = 3;

std::string text(const Count& count) { return count ? fmt::format("{}", *count) : "-"; }
std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string percent(const Real& share) { return share ? percent(*share) : "-"; }

std::string tile_text(const Row& row) {
  if (!row.resolved.br || !row.resolved.bc) return "-";
  return fmt::format("{}x{}", *row.resolved.br, *row.resolved.bc);
}

std::string lengths(const Identity& id) {
  const Count &q_len = id.count("q_len"), &kv_len = id.count("kv_len");
  return q_len == kv_len ? fmt::format("N {}", text(q_len))
                         : fmt::format("q {} k {}", text(q_len), text(kv_len));
}

// Whether a title and a line of the summary, which know the fields of the first schema, must say this one
// too: a pass that is not forward, and whatever came later.
bool is_further(const ProblemField& field, const ProblemCells& cells) {
  if (field.first_schema && field.name != "pass") return false;
  const std::string text = cells.text(field.name);
  return text != cells.absent_text(field) && text != "-";
}

// ", window 128".
std::string further_fields(const ProblemCells& cells) {
  std::string text;
  for (const ProblemField& field : problem_fields())
    if (is_further(field, cells)) text += fmt::format(", {} {}", field.name, cells.text(field.name));
  return text;
}

std::vector<const ProblemField*> further_columns(const std::vector<CaseExplanation>& cases) {
  std::vector<const ProblemField*> columns;
  for (const ProblemField& field : problem_fields())
    if (std::ranges::any_of(
            cases, [&](const CaseExplanation& e) { return is_further(field, e.row.identity.problem); }))
      columns.push_back(&field);
  return columns;
}

std::string title(const CaseExplanation& e) {
  const Identity& id = e.row.identity;
  const Count &query = id.count("heads"), &kv = id.count("kv_heads");
  const std::string heads =
      query == kv ? text(query) : fmt::format("{} to {} of K and V", text(query), text(kv));
  return fmt::format("{} {}, {} {}, batch {}, heads {}, {}, d {}{}, {} L2: {} on {} ({}, line {})",
                     id.variant, tile_text(e.row), id.word("dtype"), id.word("mask"), text(id.count("batch")),
                     heads, lengths(id), text(id.count("head_dim")), further_fields(id.problem), id.cache,
                     human_time_ns(*e.row.latency.median_ns), e.row.provenance.device,
                     std::filesystem::path(e.file).filename().string(), e.line);
}

std::string columns_text(const ResourceTime& r) {
  return r.columns.empty() ? "the schedule" : fmt::format("{}", fmt::join(r.columns, ", "));
}

std::string amount_text(const ResourceTime& r) {
  if (r.unit == "bytes") return human_bytes(r.amount);
  if (r.unit == "FLOPs") return human_flops(r.amount);
  return fmt::format("{} {}",
                     r.unit == "launches" ? fmt::format("{:.0f}", r.amount) : fmt::format("{:.3g}", r.amount),
                     r.unit);
}

std::vector<Line> resource_lines(const CaseExplanation& e) {
  std::vector<Line> lines = {{"resource", "alone", "of the time", "amount", "from", "at"}};
  for (const ResourceTime& r : e.resources.times)
    lines.push_back({(r.name == e.binds ? "> " : "  ") + r.name, human_time_ns(r.ns),
                     percent(r.ns / *e.row.latency.median_ns), amount_text(r), columns_text(r),
                     r.rate_source});
  for (const MissingResource& missing : e.resources.missing)
    lines.push_back({"  " + missing.name, "-", "-", "-", "not known: " + missing.why, ""});
  lines.push_back({"  idle", "-", percent(e.idle_share), "-", "ctas, waves, theoretical_occupancy_pct", ""});
  return lines;
}

std::vector<Line> factor_lines(const SpeedupSplit& split) {
  std::vector<Line> lines = {{"factor", "times", "what", "from"}};
  for (const Factor& f : split.factors)
    lines.push_back({"  " + f.name, fmt::format("{:.2f}", f.factor), f.text,
                     fmt::format("{}", fmt::join(f.columns, ", "))});
  lines.push_back({"  remainder", fmt::format("{:.2f}", split.remainder),
                   split.why_no_factors.empty() ? "what the model of time leaves open" : split.why_no_factors,
                   ""});
  return lines;
}

std::string tiles_text(const CaseExplanation& e) {
  std::vector<std::string> parts;
  for (const TilePrediction& t : e.tiles)
    parts.push_back(fmt::format("{}x{} {} ({:.2f}x)", t.br, t.bc, human_time_ns(t.ns), t.speedup));
  return fmt::format("Other tiles, predicted: {}.", fmt::join(parts, ", "));
}

std::string whole(const CaseExplanation& e, size_t width) {
  std::string text = wrap_text(title(e), width, "");
  for (const std::string& sentence : e.sentences) text += wrap_text("- " + sentence, width, "  ");
  text += fitted_table(resource_lines(e), width);
  if (!e.tiles.empty()) text += wrap_text(tiles_text(e), width, "");
  if (!e.against) return text;
  text +=
      wrap_text(fmt::format("{:.2f} times as fast as {} {} (line {}), which is:", e.against->split.speedup,
                            e.against->identity.variant, e.against->identity.tile, e.against->line),
                width, "");
  return text + fitted_table(factor_lines(e.against->split), width);
}

std::string best_tile(const CaseExplanation& e) {
  if (e.tiles.empty()) return "-";
  return fmt::format("{}x{} {:.2f}x", e.tiles.front().br, e.tiles.front().bc, e.tiles.front().speedup);
}

// Header and cells of the factors; nothing where no row has any.
Line factor_cells(const CaseExplanation& e) {
  Line cells(6, "-");
  if (!e.against) return cells;
  const SpeedupSplit& split = e.against->split;
  cells[0] = fmt::format("{:.2f}", split.speedup);
  for (size_t i = 0; i < split.factors.size() && i < 4; ++i)
    cells[i + 1] = fmt::format("{:.2f}", split.factors[i].factor);
  cells[5] = fmt::format("{:.2f}", split.remainder);
  return cells;
}

Line summary_line(const CaseExplanation& e, std::span<const ProblemField* const> further, bool against) {
  const Identity& id = e.row.identity;
  double longest = 0;
  for (const ResourceTime& r : e.resources.times) longest = std::max(longest, r.ns);
  Line line = {fmt::format("{}", e.line),
               id.variant,
               tile_text(e.row),
               id.word("dtype"),
               id.word("mask"),
               text(id.count("batch")),
               fmt::format("{}/{}", text(id.count("heads")), text(id.count("kv_heads"))),
               lengths(id),
               text(id.count("head_dim"))};
  for (const ProblemField* field : further) line.push_back(id.problem.text(field->name));
  line.push_back(human_time_ns(*e.row.latency.median_ns));
  const Line rest = against ? factor_cells(e)
                            : Line{e.binds, percent(longest / *e.row.latency.median_ns),
                                   percent(e.idle_share), best_tile(e)};
  line.insert(line.end(), rest.begin(), rest.end());
  return line;
}

constexpr size_t first_identity_column = 3;  // after line, variant and tile

// Takes those columns of [begin, end) that are the same in every line out of them, and says what they are.
std::string take_what_all_share(std::vector<Line>& lines, size_t begin, size_t end) {
  std::vector<std::string> shared;
  for (size_t column = end; column-- > begin;) {
    const std::string first = lines[1][column];
    if (std::ranges::any_of(lines.begin() + 1, lines.end(),
                            [&](const Line& line) { return line[column] != first; }))
      continue;
    shared.insert(shared.begin(), fmt::format("{} {}", lines[0][column], first));
    for (Line& line : lines) line.erase(line.begin() + static_cast<std::ptrdiff_t>(column));
  }
  return shared.empty() ? "" : fmt::format("In all rows: {}.", fmt::join(shared, ", "));
}

// Where all rows have one length, N is its title.
void name_equal_lengths(std::vector<Line>& lines) {
  const auto column = static_cast<size_t>(std::ranges::find(lines.front(), "length") - lines.front().begin());
  if (!std::ranges::all_of(lines.begin() + 1, lines.end(),
                           [&](const Line& line) { return line[column].starts_with("N "); }))
    return;
  lines.front()[column] = "N";
  for (size_t i = 1; i < lines.size(); ++i) lines[i][column].erase(0, 2);
}

std::string summary(const Explanations& explanations, size_t width) {
  const bool against = !explanations.against.empty();
  const std::vector<const ProblemField*> further = further_columns(explanations.cases);
  std::vector<Line> lines = {{"line", "variant", "tile", "dtype", "mask", "b", "h/kv", "length", "d"}};
  for (const ProblemField* field : further) lines.front().emplace_back(field->short_title());
  lines.front().emplace_back("time");
  const Line more = against ? Line{"gain", "bytes", "rate", "waves", "ramps", "rest"}
                            : Line{"binds", "of time", "idle", "best other tile"};
  lines.front().insert(lines.front().end(), more.begin(), more.end());
  for (const CaseExplanation& e : explanations.cases) lines.push_back(summary_line(e, further, against));
  name_equal_lengths(lines);
  const std::string shared =
      take_what_all_share(lines, first_identity_column, lines.front().size() - more.size() - 1);
  return fitted_table(lines, width) + wrap_text(shared, width, "") +
         wrap_text("All that is known of a row, with findings: choose up to 3 with --case.", width, "");
}

}  // namespace

std::string explain_text(const Explanations& explanations, size_t width) {
  if (explanations.cases.size() > few) return summary(explanations, width);
  std::string text;
  for (const CaseExplanation& e : explanations.cases) text += (text.empty() ? "" : "\n") + whole(e, width);
  return text;
}

}  // namespace attnprof
