#include "draw/roofline_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "test_paths.hpp"
#include "testing/roofline_rows.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Texts = std::vector<std::string>;

std::vector<std::string> names_of(const std::vector<Roof>& roofs) {
  std::vector<std::string> names;
  for (const Roof& roof : roofs) names.push_back(roof.name);
  return names;
}

TEST(RooflineData, ARowByHand) {
  const RooflineData data = roofline_of({roofline_row()});
  ASSERT_EQ(data.points.size(), 2u);
  const RooflinePoint &hbm = data.points[0], &sm = data.points[1];
  EXPECT_EQ(hbm.level + " " + sm.level, "hbm sm");
  EXPECT_DOUBLE_EQ(*hbm.intensity, 200);
  EXPECT_DOUBLE_EQ(*hbm.executed_intensity, 250);
  EXPECT_DOUBLE_EQ(hbm.useful_tflops_per_s, 40);
  EXPECT_DOUBLE_EQ(*hbm.executed_tflops_per_s, 50);
  EXPECT_DOUBLE_EQ(*hbm.roof_tflops_per_s, 960) << "200 FLOP/B x 4.8 TB/s";
  EXPECT_EQ(hbm.roof, "hbm");
  EXPECT_DOUBLE_EQ(*sm.roof_tflops_per_s, 275) << "25 FLOP/B x 11 TB/s";
  EXPECT_EQ(sm.roof, "l2");
  EXPECT_THAT(names_of(data.roofs), ElementsAre("hbm", "l2", "tensor", "fma"));
}

// The program fills roof_tflops_per_s of a row; what it says must be what is drawn.
TEST(RooflineData, CommittedRowsHaveTheRoofThatTheirColumnSays) {
  Texts notices;
  const auto files =
      read_result_files({ATTNPROF_SOURCE_DIR "/src/testing/rows/defaults.csv"}, roofline_columns(), notices);
  const RooflineData data = collect_roofline(files, notices);
  EXPECT_THAT(notices, IsEmpty());
  EXPECT_EQ(data.rows.size(), 10u);
  ASSERT_EQ(data.points.size(), 20u);
  for (const RooflinePoint& point : data.points) {
    const Row& row = data.rows[point.row];
    if (point.level != "hbm") continue;
    EXPECT_NEAR(*point.roof_tflops_per_s / *row.roofline.roof_tflops_per_s, 1, 1e-5) << row.identity.variant;
    EXPECT_EQ(point.executed_tflops_per_s.has_value(), row.identity.variant != "naive");
    EXPECT_EQ(point.roof == "fma", row.identity.variant == "naive") << "no naive row of these waits for HBM";
  }
  for (const Roof& roof : data.roofs) EXPECT_EQ(roof.source, "ceiling") << roof.name;
}

TEST(RooflineData, WhatIsNotOkIsCountedAndNeverAPoint) {
  Row wrong = roofline_row(), timeless = roofline_row();
  wrong.verify.verified = "no";
  timeless.roofline.useful_tflops_per_s = std::nullopt;
  Texts notices;
  const RooflineData data = roofline_of({row_that_is("skipped"), roofline_row(), row_that_is("failed"),
                                         row_that_is("skipped"), wrong, row_that_is("incorrect"), timeless},
                                        notices);
  EXPECT_EQ(data.rows.size(), 1u);
  EXPECT_EQ(data.points.size(), 2u);
  EXPECT_THAT(notices,
              ElementsAre("not among the points: 1 failed, 2 incorrect, 2 skipped, 1 without a time"));
}

TEST(RooflineData, ARowWithoutBytesKeepsItsRateAndHasNoIntensity) {
  Texts notices;
  const RooflineData data = roofline_of({roofline_row(), peer_row()}, notices);
  ASSERT_EQ(data.points.size(), 3u);
  EXPECT_EQ(data.points[2].level, "none");
  EXPECT_FALSE(data.points[2].intensity);
  EXPECT_DOUBLE_EQ(data.points[2].useful_tflops_per_s, 40);
  EXPECT_DOUBLE_EQ(*data.points[2].roof_tflops_per_s, 989);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_THAT(notices[0], HasSubstr("1 of 2 rows have no counted bytes"));
}

TEST(RooflineData, NoRowToShowIsASentence) {
  Texts notices;
  try {
    roofline_of({row_that_is("skipped"), row_that_is("failed")}, notices);
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no row is ok, so there is no point: 1 failed, 1 skipped"));
  }
}

TEST(RooflineData, TheRunsOwnRatesComeBeforeTheProfiles) {
  Texts notices;
  const std::string meta = R"({"runs": {"r1": {"peaks": {"hbm_gbps": 1000, "tensor_16bit_tflops": 150}}}})";
  const RooflineData data = roofline_of({roofline_row()}, notices, meta);
  EXPECT_DOUBLE_EQ(*data.points[0].roof_tflops_per_s, 150) << "200 FLOP/B x 1 TB/s is above the peak";
  EXPECT_EQ(data.points[0].roof, "tensor");
  for (const Roof& roof : data.roofs)
    EXPECT_EQ(roof.source, roof.name == "hbm" || roof.name == "tensor" ? "run" : "profile") << roof.name;
}

TEST(RooflineData, RunsHeldAgainstOtherRatesHaveEachTheirRoofs) {
  Texts notices;
  Row second = roofline_row();
  second.provenance.run = "r2";
  const std::string meta = R"({"runs": {"r1": {"peaks": {"hbm_gbps": 4000}}, "r2": {"peaks": {}}}})";
  const RooflineData data = roofline_of({roofline_row(), second}, notices, meta);
  EXPECT_THAT(names_of(data.roofs), ElementsAre("hbm", "l2", "tensor", "fma", "hbm"));
  EXPECT_DOUBLE_EQ(*data.points[0].roof_tflops_per_s, 800);
  EXPECT_DOUBLE_EQ(*data.points[2].roof_tflops_per_s, 960);
}

TEST(RooflineData, AnUnknownDeviceIsNamedAndItsPointsStay) {
  Texts notices;
  const RooflineData data = roofline_of({roofline_row("flash2", "Other GPU")}, notices);
  EXPECT_EQ(data.points.size(), 2u);
  EXPECT_THAT(data.roofs, IsEmpty());
  EXPECT_FALSE(data.points[0].roof_tflops_per_s);
  EXPECT_EQ(data.points[0].roof, "");
  EXPECT_THAT(notices,
              ElementsAre("no roof hbm, l2, tensor, fma for 'Other GPU': neither its run's .meta.json "
                          "nor a built-in profile has the figure"));
}

// A roof a dtype, each row under its own.
TEST(RooflineData, MeasuredTensorRoofsAreOfTheirDtype) {
  Texts notices;
  Row bf16 = roofline_row(), fp16 = roofline_row();
  bf16.identity.word("dtype") = "bf16";
  for (Row* row : {&bf16, &fp16}) row->roofline.hbm_intensity = 10'000;
  const std::string meta = R"({"runs": {"r1": {"ceilings": {"wgmma_fp16_tflops": {"median": 830},
    "wgmma_bf16_tflops": {"median": 850}}}}})";
  const RooflineData data = roofline_of({fp16, bf16}, notices, meta);
  Texts roofs;
  for (const Roof& roof : data.roofs) roofs.push_back(roof.title() + " " + roof.source);
  EXPECT_THAT(roofs, ElementsAre("hbm profile", "l2 profile", "tensor fp16 ceiling", "fma profile",
                                 "tensor bf16 ceiling"));
  EXPECT_DOUBLE_EQ(*data.points[0].roof_tflops_per_s, 830);
  EXPECT_DOUBLE_EQ(*data.points[2].roof_tflops_per_s, 850);
  const auto names = record_columns(data);
  const auto dtype = static_cast<size_t>(std::ranges::find(names, "dtype") - names.begin());
  EXPECT_EQ(std::get<std::string>(roof_records(data)[2].at(dtype)), "fp16");
  EXPECT_EQ(std::get<std::string>(roof_records(data)[0].at(dtype)), "");
}

TEST(RooflineData, Fp8RowsBringTheirPeakAndOthersDoNot) {
  Row fp8 = roofline_row();
  fp8.identity.word("dtype") = "fp8";
  const RooflineData data = roofline_of({fp8});
  EXPECT_THAT(names_of(data.roofs), ElementsAre("hbm", "l2", "tensor_fp8", "fma"));
  EXPECT_DOUBLE_EQ(data.roofs[2].value, 1979);
}

TEST(RooflineData, RecordsHaveTheColumnsTheyName) {
  const RooflineData data = roofline_of({roofline_row(), peer_row()});
  for (const DataRecord& record : point_records(data)) EXPECT_EQ(record.size(), record_columns(data).size());
  for (const DataRecord& record : roof_records(data)) EXPECT_EQ(record.size(), record_columns(data).size());
}

}  // namespace
}  // namespace attnprof
