// `attnprof published` as a person calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/csv.hpp"
#include "cli/run_fixture.hpp"
#include "test_paths.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Result published(Args args) {
  args.insert(args.begin(), "published");
  return run(args);
}

const std::string rows_folder = ATTNPROF_SOURCE_DIR "/src/testing/rows/";

TEST(PublishedCommand, CommittedRowsStandBesideFiguresOfTheirProblem) {
  const Result result =
      published({rows_folder + "versus.csv", rows_folder + "peers.csv", "--format", "json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto lines = nlohmann::json::parse(result.out);
  ASSERT_FALSE(lines.empty());
  for (const auto& line : lines) {
    EXPECT_EQ(line["dtype"], "bf16");
    EXPECT_EQ(line["published_device"], "H200");
    EXPECT_NEAR(line["ratio"].get<double>(),
                line["exact_tflops_per_s"].get<double>() / line["published_exact_tflops_per_s"].get<double>(),
                1e-3);
  }
  EXPECT_THAT(result.err, HasSubstr("rows without a published figure"));
}

TEST(PublishedCommand, EveryFormatSaysWhichGpu) {
  for (const char* format : {"table", "markdown", "csv"}) {
    setenv("COLUMNS", "200", 1);
    const Result result = published({rows_folder + "peers.csv", "--format", format});
    unsetenv("COLUMNS");
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("cuDNN 9.19.1")) << format;
    EXPECT_THAT(result.out, HasSubstr("H200")) << format;
  }
}

TEST(PublishedCommand, NoFigureIsThree) {
  const Result result = published({rows_folder + "defaults.csv"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no row has a published figure"));
  EXPECT_EQ(published({rows_folder + "nosuch.csv"}).code, 2);
}

}  // namespace
}  // namespace attnprof
