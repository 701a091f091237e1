#include "published/published.hpp"

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

bool matches(const Identity& row, const PublishedFigure& figure) {
  return algorithm_of(row.variant) == figure.algorithm && row.pass == figure.pass &&
         row.dtype == figure.dtype && row.mask == figure.mask && row.q_len == figure.seqlen &&
         row.kv_len == figure.seqlen && row.head_dim == figure.head_dim;
}

bool same_shape(const Identity& row, const PublishedFigure& figure) {
  return row.batch == figure.batch && row.heads == figure.heads && row.kv_heads == figure.kv_heads;
}

bool is_measured(const Row& row, LeftOut& left_out) {
  if (!can_be_shown(row, left_out)) return false;
  const bool timed = row.model.half_square_flops && row.latency.median_ns.value_or(0) > 0;
  if (row.provenance.backend == "sim")
    ++left_out["simulated"];
  else if (!timed)
    ++left_out["without a time"];
  return timed && row.provenance.backend != "sim";
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
