#include "published/published.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace attnprof {
namespace {

constexpr auto needed =
    std::to_array<std::string_view>({"device", "backend", "disposition", "latency_median_ns", "useful_flops",
                                     "half_square_flops", "useful_tflops_per_s"});

constexpr auto algorithms = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"naive", "unfused"},
    {"standard", "unfused"},
    {"torch_math", "unfused"},
    {"flash1", "flash1"},
    {"flash2", "flash2"},
    {"torch_flash", "flash2"},
    {"flash3", "flash3"},
    {"torch_cudnn", "flash3"},
});

// What a rate hardly hangs on once the GPU is full.
constexpr auto shape_fields = std::to_array<std::string_view>({"batch", "heads", "kv_heads"});

bool agree(const ProblemCells& a, const ProblemCells& b, bool on_shape) {
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool shape = std::ranges::find(shape_fields, fields[i].name) != shape_fields.end();
    if (shape == on_shape && a.text(i) != b.text(i)) return false;
  }
  return true;
}

bool matches(const Identity& row, const PublishedFigure& figure) {
  return algorithm_of(row.variant) == figure.algorithm && agree(row.problem, figure.problem, false);
}

bool same_shape(const Identity& row, const PublishedFigure& figure) {
  return agree(row.problem, figure.problem, true);
}

bool is_measured(const Row& row, LeftOut& left_out) {
  if (!can_be_shown(row, left_out)) return false;
  std::string why;
  if (row.provenance.backend == "sim")
    why = "simulated";
  else if (!row.latency.median_ns)
    why = "without a time";
  else if (!row.model.half_square_flops)
    why = "of no known problem";  // a traced kernel
  if (why.empty()) return true;
  ++left_out[why];
  return false;
}

void add_matches(const Row& row, const std::vector<PublishedFigure>& figures, PublishedComparison& result) {
  const double tflops = static_cast<double>(*row.model.half_square_flops) / *row.latency.median_ns / 1e3;
  const size_t before = result.matches.size();
  for (const PublishedFigure& figure : figures)
    if (matches(row.identity, figure))
      result.matches.push_back(
          {&row, &figure, tflops, tflops / figure.half_square_tflops, same_shape(row.identity, figure)});
  if (result.matches.size() == before) ++result.unmatched;
}

}  // namespace

std::string_view algorithm_of(std::string_view variant) {
  for (const auto& [name, algorithm] : algorithms)
    if (name == variant) return algorithm;
  return "";
}

PublishedComparison compare_published(const std::vector<ResultFile>& files,
                                      const std::vector<PublishedFigure>& figures) {
  PublishedComparison result;
  for (const ResultFile& file : files)
    for (const Row& row : file.rows)
      if (is_measured(row, result.left_out)) add_matches(row, figures, result);
  return result;
}

std::span<const std::string_view> published_columns() { return needed; }

}  // namespace attnprof
