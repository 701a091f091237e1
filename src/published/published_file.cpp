// Reading src/published/figures.csv.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/csv_header.hpp"
#include "base/error.hpp"
#include "problem/flops.hpp"
#include "problem/problem_fields.hpp"
#include "published/published.hpp"

namespace attnprof {
namespace {

// The cells of one line by column name.
class Line {
 public:
  Line(const CsvHeader& header, const RecordView& record) : header_(header), record_(record) {
    header.check(record);
  }

  bool has(std::string_view name) const { return header_.position(name).has_value(); }
  const std::string& text(std::string_view name) const { return record_.fields[position(name)]; }

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
    header_.refuse(record_.line, position(name), why);
  }

 private:
  size_t position(std::string_view name) const {
    if (const auto place = header_.position(name)) return *place;
    throw UsageError(
        fmt::format("{}, line {}, column {}: it is missing", header_.file(), record_.line, name));
  }

  const CsvHeader& header_;
  const RecordView& record_;
};

// A column of its name, of lengths seqlen; a field that the file lacks has what that means.
ProblemCells problem_cells(const Line& line) {
  ProblemCells cells;
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool length = fields[i].name == "q_len" || fields[i].name == "kv_len";
    const std::string_view column = length ? "seqlen" : fields[i].name;
    if (!line.has(column) && fields[i].may_be_absent())
      cells.set_text(i, cells.absent_text(fields[i]));
    else if (fields[i].is_count() && fields[i].lowest > 0)
      cells.at(i) = Count(line.positive<int64_t>(column));
    else if (!cells.set_text(i, line.text(column)))
      line.refuse(column, fmt::format("'{}' is no number", line.text(column)));
  }
  return cells;
}

// Exact over half-square FLOPs of the figure's problem, the same for every pass.
double exact_share(const Line& line, const PublishedFigure& figure) {
  Problem problem;
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    if (!fields[i].set(problem, figure.problem.text(i)) && fields[i].name == "mask")
      line.refuse("mask", fmt::format("'{}' is neither full nor causal", figure.problem.text(i)));
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
                         .problem = problem_cells(line)};
  set_rates(line, figure);
  return figure;
}

}  // namespace

std::vector<PublishedFigure> parse_published(std::string_view text, std::string_view file) {
  std::vector<PublishedFigure> figures;
  CsvHeader header;
  for_each_record(text, file, [&](const RecordView& record) {
    if (header.empty())
      header = CsvHeader(record.fields, record.line, file);
    else
      figures.push_back(figure_of(Line(header, record)));
  });
  return figures;
}

}  // namespace attnprof
