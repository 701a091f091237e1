// Rows beside figures that others have published, in one FLOPs convention.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/result_rows.hpp"
#include "row/row.hpp"

namespace attnprof {

// A line of src/published/figures.csv.
struct PublishedFigure {
  std::string source, device, implementation, algorithm;
  ProblemCells problem;
  double half_square_tflops = 0;  // FLOPs as in half_square_flops, TFLOP/s
  double exact_tflops = 0;        // FLOPs as in useful_flops
};

// src/published/figures.csv as it was at build time.
std::string_view published_figures_text();
// Throws UsageError with file, line and column for what is malformed.
std::vector<PublishedFigure> parse_published(std::string_view text, std::string_view file);

// The class that a variant or a peer belongs to: unfused, flash1, flash2, flash3; empty where none is known.
std::string_view algorithm_of(std::string_view variant);

// A row and a figure of its algorithm and, but for batch, heads and kv_heads, its problem.
struct PublishedMatch {
  const Row* row;
  const PublishedFigure* figure;
  double half_square_tflops;  // of the row
  double ratio;               // the row's rate over the figure's: the same in either convention
  bool same_shape;            // batch, heads and kv_heads agree too
};

struct PublishedComparison {
  std::vector<PublishedMatch> matches;  // in the rows' order; point into both arguments
  size_t unmatched = 0;                 // rows without a figure
  LeftOut left_out;                     // rows that are not ok, or simulated: a model is held against nothing
};

PublishedComparison compare_published(const std::vector<ResultFile>& files,
                                      const std::vector<PublishedFigure>& figures);

// Columns beside the identity that a file must have.
std::span<const std::string_view> published_columns();

}  // namespace attnprof
