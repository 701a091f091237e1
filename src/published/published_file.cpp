// Reading src/published/figures.csv.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "problem/problem.hpp"
#include "published/published.hpp"

namespace attnprof {
namespace {

// The cells of one line by column name.
class Line {
 public:
  Line(const CsvRecord& header, const CsvRecord& record, std::string_view file)
      : header_(header), record_(record), file_(file) {
    if (record.fields.size() != header.fields.size())
      throw UsageError(fmt::format("{}, line {}: {} fields where the header has {}", file, record.line,
                                   record.fields.size(), header.fields.size()));
  }

  const std::string& text(std::string_view name) const {
    const auto found = std::ranges::find(header_.fields, name);
    if (found == header_.fields.end()) refuse(name, "it is missing");
    return record_.fields[static_cast<size_t>(found - header_.fields.begin())];
  }

  template <class Number>
  Number positive(std::string_view name) const {
    const std::string& cell = text(name);
    Number value{};
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) ||
        !std::isfinite(static_cast<double>(value)))
      refuse(name, fmt::format("'{}' is no number above 0", cell));
    return value;
  }

  [[noreturn]] void refuse(std::string_view name, std::string_view why) const {
    throw UsageError(fmt::format("{}, line {}, column {}: {}", file_, record_.line, name, why));
  }

 private:
  const CsvRecord& header_;
  const CsvRecord& record_;
  std::string_view file_;
};

// Exact over half-square FLOPs of the figure's problem, the same for every pass.
double exact_share(const Line& line, const PublishedFigure& figure) {
  const auto mask = parse_mask(figure.mask);
  if (!mask) line.refuse("mask", fmt::format("'{}' is neither full nor causal", figure.mask));
  Problem problem;
  problem.mask = *mask;
  problem.q_len = problem.kv_len = figure.seqlen;
  problem.head_dim = figure.head_dim;
  return static_cast<double>(useful_flops(problem)) / static_cast<double>(half_square_flops(problem));
}

void set_rates(const Line& line, PublishedFigure& figure) {
  const double published = line.positive<double>("tflops_per_s"), share = exact_share(line, figure);
  const std::string& convention = line.text("convention");
  if (convention != "half_square" && convention != "exact")
    line.refuse("convention", fmt::format("'{}' is neither half_square nor exact", convention));
  const bool exact = convention == "exact";
  figure.exact_tflops = exact ? published : published * share;
  figure.half_square_tflops = exact ? published / share : published;
}

PublishedFigure figure_of(const Line& line) {
  PublishedFigure figure{.source = line.text("source"),
                         .device = line.text("device"),
                         .implementation = line.text("implementation"),
                         .algorithm = line.text("algorithm"),
                         .pass = line.text("pass"),
                         .dtype = line.text("dtype"),
                         .mask = line.text("mask"),
                         .batch = line.positive<int64_t>("batch"),
                         .heads = line.positive<int64_t>("heads"),
                         .kv_heads = line.positive<int64_t>("kv_heads"),
                         .seqlen = line.positive<int64_t>("seqlen"),
                         .head_dim = line.positive<int64_t>("head_dim")};
  set_rates(line, figure);
  return figure;
}

}  // namespace

std::vector<PublishedFigure> parse_published(std::string_view text, std::string_view file) {
  const CsvText csv = parse_csv(text, file);
  std::vector<PublishedFigure> figures;
  for (size_t i = 1; i < csv.records.size(); ++i)
    figures.push_back(figure_of(Line(csv.records[0], csv.records[i], file)));
  return figures;
}

}  // namespace attnprof
