#include "published/published.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "schedule/variant.hpp"
#include "test_paths.hpp"
#include "testing/roofline_rows.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

const std::string header =
    "source,device,implementation,algorithm,pass,dtype,mask,batch,heads,kv_heads,seqlen,head_dim,"
    "tflops_per_s,convention,latency_ms,note\n";

std::vector<PublishedFigure> figures_of(const std::string& lines) {
  return parse_published(header + lines, "figures.csv");
}

// 16 heads, N = 1024, d = 64, causal, in 100 us.
Row causal_row() {
  Row row = roofline_row();
  row.identity.word("mask") = "causal";
  row.model.useful_flops = 4LL * 64 * 16 * 1024 * 1025 / 2;
  row.model.half_square_flops = 4LL * 64 * 16 * 1024 * 1024 / 2;
  row.roofline.useful_tflops_per_s = static_cast<double>(*row.model.useful_flops) / 1e5 / 1e3;
  return row;
}

PublishedComparison compare(const std::vector<Row>& rows, const std::vector<PublishedFigure>& figures) {
  static std::vector<ResultFile> files;  // matches point into it
  files = {{"rows.csv", rows, std::nullopt}};
  return compare_published(files, figures);
}

TEST(Published, EitherConventionGivesOneRatio) {
  const auto figures = figures_of(
      "a,H200,x,flash2,fwd,fp16,causal,1,16,16,1024,64,40,half_square,,\n"
      "b,H200,x,flash2,fwd,fp16,causal,1,16,16,1024,64,41,exact,,\n");
  EXPECT_NEAR(figures[0].exact_tflops, 40 * 1025.0 / 1024, 1e-9);
  EXPECT_NEAR(figures[1].half_square_tflops, 41 * 1024.0 / 1025, 1e-9);
  const Row row = causal_row();
  const PublishedComparison comparison = compare({row}, figures);
  ASSERT_EQ(comparison.matches.size(), 2u);
  const double exact = *row.roofline.useful_tflops_per_s;
  EXPECT_NEAR(comparison.matches[0].ratio, exact / figures[0].exact_tflops, 1e-9);
  EXPECT_NEAR(comparison.matches[1].ratio, exact / 41, 1e-9);
  EXPECT_TRUE(comparison.matches[0].same_shape);
}

TEST(Published, MatchesNeedTheSameProblemAndAlgorithm) {
  const auto figures = figures_of("a,H200,x,flash2,fwd,fp16,causal,1,64,8,1024,64,40,half_square,,\n");
  const PublishedComparison same = compare({causal_row()}, figures);
  ASSERT_EQ(same.matches.size(), 1u);
  EXPECT_FALSE(same.matches[0].same_shape) << "other heads";
  std::vector<Row> others(7, causal_row());
  others[0].identity.variant = "flash1";
  others[1].identity.word("dtype") = "bf16";
  others[2].identity.word("mask") = "full";
  others[3].identity.count("q_len") = 2048;
  others[4].identity.count("kv_len") = 2048;
  others[5].identity.count("head_dim") = 128;
  others[6].identity.word("pass") = "bwd";
  const PublishedComparison none = compare(others, figures);
  EXPECT_TRUE(none.matches.empty());
  EXPECT_EQ(none.unmatched, others.size());
}

TEST(Published, OnlyRightAndMeasuredRowsAreCompared) {
  const auto figures = figures_of("a,H200,x,flash2,fwd,fp16,causal,1,16,16,1024,64,40,half_square,,\n");
  Row simulated = causal_row(), incorrect = causal_row(), timeless = causal_row(), traced = causal_row();
  simulated.provenance.backend = "sim";
  incorrect.status.disposition = "incorrect";
  timeless.latency.median_ns = std::nullopt;
  traced.model.half_square_flops = traced.model.useful_flops = std::nullopt;
  const PublishedComparison comparison = compare({simulated, incorrect, timeless, traced}, figures);
  EXPECT_TRUE(comparison.matches.empty());
  EXPECT_EQ(describe(comparison.left_out),
            "1 incorrect, 1 of no known problem, 1 simulated, 1 without a time");
}

TEST(Published, MalformedFiguresNameLineAndColumn) {
  const auto error = [](const std::string& line) -> std::string {
    try {
      figures_of(line);
    } catch (const UsageError& refused) {
      return refused.what();
    }
    return "accepted";
  };
  EXPECT_THAT(error("a,H200,x,flash2,fwd,fp16,causal,1,16,16,1024,64,fast,half_square,,\n"),
              HasSubstr("figures.csv, line 2, column tflops_per_s: 'fast'"));
  EXPECT_THAT(error("a,H200,x,flash2,fwd,fp16,none,1,16,16,1024,64,40,half_square,,\n"),
              HasSubstr("column mask: 'none'"));
  EXPECT_THAT(error("a,H200,x,flash2,fwd,fp16,full,1,16,16,1024,64,40,half,,\n"),
              HasSubstr("column convention"));
  EXPECT_THAT(error("a,H200\n"),
              HasSubstr("line 2, column device: the line has 2 fields where the header has 16"));
}

// What is published as a rate and as a time must be one measurement in the convention that is named.
TEST(Published, RatesAndTimesOfTheFileAgree) {
  EXPECT_EQ(published_figures_text(), read_text_file(ATTNPROF_SOURCE_DIR "/src/published/figures.csv"));
  const CsvText csv = parse_csv(published_figures_text(), "figures.csv");
  const auto figures = parse_published(published_figures_text(), "figures.csv");
  ASSERT_EQ(figures.size() + 1, csv.records.size());
  const auto time_at = static_cast<size_t>(std::ranges::find(csv.records[0].fields, "latency_ms") -
                                           csv.records[0].fields.begin());
  size_t timed = 0;
  for (size_t i = 0; i < figures.size(); ++i) {
    const PublishedFigure& figure = figures[i];
    const std::string& time = csv.records[i + 1].fields[time_at];
    if (time.empty()) continue;
    ++timed;
    const ProblemCells& p = figure.problem;
    const double n = static_cast<double>(*p.count("q_len")), mask = p.word("mask") == "causal" ? 0.5 : 1,
                 pass = p.word("pass") == "bwd" ? 2.5 : 1;
    const double flops = 4 * n * n *
                         static_cast<double>(*p.count("head_dim") * *p.count("heads") * *p.count("batch")) *
                         mask * pass;
    EXPECT_NEAR(flops / std::stod(time) / 1e9 / figure.half_square_tflops, 1, 0.01)
        << csv.records[i + 1].line;
  }
  EXPECT_EQ(timed, 12u);
}

TEST(Published, EveryVariantHasAnAlgorithm) {
  for (const Variant* variant : all_variants()) EXPECT_NE(algorithm_of(variant->name), "") << variant->name;
  EXPECT_EQ(algorithm_of("torch_efficient"), "");
}

}  // namespace
}  // namespace attnprof
