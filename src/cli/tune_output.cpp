#include "cli/tune_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text_table.hpp"
#include "cli/text_output.hpp"
#include "report/table.hpp"
#include "row/row_csv.hpp"
#include "row/schema.hpp"
#include "tune/ranking.hpp"

namespace attnprof {
namespace {

// A row that is shown: best, runner-up, default.
struct Ranked {
  std::string name;
  const Row* row;
  Margin margin;  // behind the best
};

bool is_default(const Row& row) { return row.identity.tile == "auto" && row.identity.knobs == "-"; }

std::vector<Ranked> ranked_rows(const ContestResult& result) {
  const std::vector<size_t> order = by_latency(result.rows);
  std::vector<Ranked> ranked;
  for (size_t i = 0; i < order.size(); ++i) {
    const Row& row = result.rows[order[i]];
    if (i >= 2 && !is_default(row)) continue;
    const std::string name = i == 0 ? "best" : i == 1 ? "runner-up" : "default";
    ranked.push_back({i < 2 && is_default(row) ? name + " (default)" : name, &row,
                      margin(result.rows[order.front()], row)});
  }
  return ranked;
}

std::string pct(double value) { return fmt::format("{:.2f}", value); }

std::string interval_text(const Margin& margin) {
  return margin.low_pct ? fmt::format("{} to {} %", pct(*margin.low_pct), pct(*margin.high_pct)) : "";
}

std::string margin_text(const Margin& margin) {
  const std::string interval = margin.low_pct ? fmt::format(" (95 %: {})", interval_text(margin)) : "";
  return fmt::format("{} %{}{}", pct(margin.pct), interval, margin.within_noise() ? ", within noise" : "");
}

std::string sentence(const Ranked& best, const Ranked& runner_up) {
  const std::string behind = fmt::format("{} % longer", pct(runner_up.margin.pct));
  const std::string interval = interval_text(runner_up.margin);
  if (runner_up.margin.within_noise())
    return fmt::format("The {} takes {}, which is within noise ({}).", runner_up.name, behind, interval);
  if (runner_up.margin.pct == 0) return fmt::format("The {} takes as long as the best.", runner_up.name);
  return fmt::format("The {} takes {}{}: {}.", runner_up.name, behind,
                     interval.empty() ? "" : fmt::format(" (95 % interval {})", interval),
                     why(*best.row, *runner_up.row));
}

struct Fact {
  const char* column;
  const char* title;
};
constexpr std::array facts = {
    Fact{"latency_median_ns", "latency"},
    Fact{"useful_tflops_per_s", "rate"},
    Fact{"registers", "registers"},
    Fact{"spill_bytes", "spills"},
    Fact{"smem_bytes", "shared memory"},
    Fact{"threads_per_cta", "threads"},
    Fact{"theoretical_occupancy_pct", "possible occupancy"},
    Fact{"achieved_occupancy_pct", "achieved occupancy"},
    Fact{"waves", "waves"},
    Fact{"tensor_pipe_pct", "tensor pipe"},
    Fact{"hbm_bytes", "HBM"},
    Fact{"sm_bytes", "SM"},
};

std::string tile_of(const Row& row) {
  return row.resolved.br ? fmt::format("{}x{}", *row.resolved.br, row.resolved.bc.value_or(0)) : "none";
}

// "2" of "stages=2;warp_rows=32" for stages.
std::string knob_value(const Row& row, std::string_view knob) {
  const std::string text = ";" + row.resolved.knobs_used + ";", key = fmt::format(";{}=", knob);
  const size_t at = text.find(key);
  if (at == std::string::npos) return "-";
  const size_t begin = at + key.size();
  return text.substr(begin, text.find(';', begin) - begin);
}

template <class Text>
void add_line(std::vector<std::vector<std::string>>& lines, const std::string& title,
              const std::vector<Ranked>& ranked, Text text) {
  lines.push_back({"  " + title});
  for (const Ranked& rank : ranked) lines.back().push_back(text(rank));
}

std::string contest_title(const ContestResult& result) {
  Case c = result.by_default;
  c.tile = {};  // the question, not an answer
  return fmt::format("{}: {} of {} candidates measured", describe(c), result.measured, result.candidates);
}

std::string first_reason(const ContestResult& result) {
  return result.rows.empty() ? "" : fmt::format(", the first since {}", result.rows.front().status.reason);
}

// Facts down, ranks across: three columns are all there ever are.
std::string for_people(const ContestResult& result) {
  const std::vector<Ranked> ranked = ranked_rows(result);
  if (ranked.empty()) return contest_title(result) + "; none is ok" + first_reason(result) + "\n";
  std::vector<std::vector<std::string>> lines;
  add_line(lines, "", ranked, [](const Ranked& rank) { return rank.name; });
  add_line(lines, "tile", ranked, [](const Ranked& rank) { return tile_of(*rank.row); });
  for (const Knob& knob : result.by_default.variant->knobs)
    add_line(lines, std::string(knob.name), ranked,
             [&](const Ranked& rank) { return knob_value(*rank.row, knob.name); });
  for (const Fact& fact : facts) {
    const Column& column = *find_column(fact.column);
    if (std::ranges::all_of(ranked, [&](const Ranked& rank) { return cell(column, *rank.row).empty(); }))
      continue;
    add_line(lines, fact.title, ranked, [&](const Ranked& rank) { return human_cell(column, *rank.row); });
  }
  if (ranked.size() > 1)
    add_line(lines, "slower by", ranked, [&](const Ranked& rank) {
      return &rank == &ranked.front() ? std::string("-") : margin_text(rank.margin);
    });
  std::string text = contest_title(result) + "\n" + format_lines(lines, Format::table);
  if (ranked.size() > 1) text += wrap_text(sentence(ranked[0], ranked[1]), terminal_width(), "  ");
  return text;
}

// The question is the identity without what is answered. Then come rank, answer and evidence.
std::vector<std::string> question_columns() {
  std::vector<std::string> names;
  for (const Column* column : identity_columns())
    if (column->name != "tile" && column->name != "knobs") names.emplace_back(column->name);
  return names;
}
constexpr std::array answer_columns = {"tile", "knobs", "br", "bc", "knobs_used"};
constexpr std::array evidence_columns = {"latency_source",
                                         "latency_median_ns",
                                         "latency_ci95_low_ns",
                                         "latency_ci95_high_ns",
                                         "registers",
                                         "spill_bytes",
                                         "smem_bytes",
                                         "threads_per_cta",
                                         "waves",
                                         "tensor_pipe_pct",
                                         "theoretical_occupancy_pct",
                                         "achieved_occupancy_pct",
                                         "hbm_bytes",
                                         "sm_bytes"};

std::vector<std::string> machine_titles() {
  std::vector<std::string> titles = question_columns();
  titles.emplace_back("place");
  titles.insert(titles.end(), answer_columns.begin(), answer_columns.end());
  for (const char* title : {"slower_pct", "slower_low_pct", "slower_high_pct", "within_noise"})
    titles.emplace_back(title);
  titles.insert(titles.end(), evidence_columns.begin(), evidence_columns.end());
  titles.emplace_back("why");
  return titles;
}

std::vector<std::string> machine_line(const Ranked& rank, const Row& best) {
  std::vector<std::string> line;
  const auto add = [&](const auto& columns) {
    for (const auto& name : columns) line.push_back(cell(*find_column(name), *rank.row));
  };
  const bool first = rank.row == &best;
  const Margin& margin = rank.margin;
  add(question_columns());
  line.push_back(rank.name);
  add(answer_columns);
  line.push_back(pct(margin.pct));
  line.push_back(margin.low_pct && !first ? pct(*margin.low_pct) : "");
  line.push_back(margin.high_pct && !first ? pct(*margin.high_pct) : "");
  line.push_back(first || !margin.low_pct ? "" : margin.within_noise() ? "yes" : "no");
  add(evidence_columns);
  line.push_back(first ? "" : why(best, *rank.row));
  return line;
}

std::vector<size_t> number_columns(const std::vector<std::string>& titles) {
  std::vector<size_t> numbers;
  Row row;
  for (size_t i = 0; i < titles.size(); ++i) {
    const Column* column = find_column(titles[i]);
    if (column ? !std::holds_alternative<std::string*>(column->field(row)) : titles[i].ends_with("_pct"))
      numbers.push_back(i);
  }
  return numbers;
}

std::vector<std::string> markdown_line(const ContestResult& result, const Ranked& rank) {
  Case c = result.by_default;
  c.tile = {};
  std::vector<std::string> line = {describe(c), rank.name, tile_of(*rank.row), rank.row->resolved.knobs_used};
  for (const Fact& fact : facts) line.push_back(human_cell(*find_column(fact.column), *rank.row));
  line.push_back(rank.name.starts_with("best") ? "-" : margin_text(rank.margin));
  return line;
}

std::vector<std::vector<std::string>> lines_of(const std::vector<ContestResult>& results, Format format) {
  std::vector<std::vector<std::string>> lines;
  if (format == Format::markdown) {
    lines.push_back({"problem", "place", "tile", "knobs"});
    for (const Fact& fact : facts) lines.back().emplace_back(fact.title);
    lines.back().emplace_back("slower by");
  } else {
    lines.push_back(machine_titles());
  }
  for (const ContestResult& result : results) {
    const std::vector<Ranked> ranked = ranked_rows(result);
    for (const Ranked& rank : ranked)
      lines.push_back(format == Format::markdown ? markdown_line(result, rank)
                                                 : machine_line(rank, *ranked.front().row));
  }
  return lines;
}

}  // namespace

std::string format_results(const std::vector<ContestResult>& results, Format format) {
  if (format != Format::table) {
    const auto lines = lines_of(results, format);
    return format_lines(lines, format, number_columns(lines.front()));
  }
  std::string text;
  for (const ContestResult& result : results) text += (text.empty() ? "" : "\n") + for_people(result);
  return text;
}

}  // namespace attnprof
