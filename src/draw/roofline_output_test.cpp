#include "draw/roofline_output.hpp"
#include "base/json_names.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "testing/roofline_rows.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Not;
size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Rows of the first panel with this mark; the name of a roof in its line is none.
std::vector<size_t> rows_with(const std::string& text, char mark) {
  std::vector<size_t> rows;
  const std::vector<std::string> lines = lines_of(text);
  for (size_t i = 3; i < 19; ++i)
    if (lines[i].find("tensor") == std::string::npos && lines[i].find(mark) != std::string::npos)
      rows.push_back(i);
  return rows;
}

TEST(RooflineOutput, CsvHasARecordAPointAndARoof) {
  const CsvText csv = parse_csv(roofline_csv(roofline_of({roofline_row(), peer_row()})), "roofline.csv");
  ASSERT_EQ(csv.records.size(), 1u + 3 + 4);
  const auto at = [&](size_t record, std::string_view name) {
    const auto& header = csv.records[0].fields;
    return csv.records[record].fields.at(
        static_cast<size_t>(std::ranges::find(header, name) - header.begin()));
  };
  EXPECT_EQ(at(1, "record") + at(1, "level") + at(1, "variant") + at(1, "bytes_source"),
            "pointhbmflash2cupti");
  EXPECT_EQ(at(1, "intensity_flop_per_byte"), "200");
  EXPECT_EQ(at(1, "executed_tflops_per_s"), "50");
  EXPECT_EQ(at(3, "level") + at(3, "intensity_flop_per_byte"), "none") << "an absent value is an empty cell";
  EXPECT_EQ(at(4, "record") + at(4, "roof") + at(4, "roof_gbps"), "roofhbm4800");
  EXPECT_EQ(at(6, "roof") + at(6, "roof_tflops_per_s") + at(6, "roof_gbps"), "tensor989");
}

TEST(RooflineOutput, JsonHasNumbersAndNulls) {
  const Json json =
      Json::parse(roofline_json(roofline_of({roofline_row(), peer_row(), row_that_is("skipped")})));
  EXPECT_EQ(json["points"].size(), 3u);
  EXPECT_EQ(json["points"][1]["intensity_flop_per_byte"], 25);
  EXPECT_TRUE(json["points"][2]["intensity_flop_per_byte"].is_null());
  EXPECT_EQ(json["roofs"][0]["roof_gbps"], 4800);
  EXPECT_EQ(json["left_out"]["skipped"], 1);
}

TEST(RooflineOutput, VegaLiteDrawsEveryPointOfItsData) {
  const Json spec = Json::parse(roofline_vega_lite(roofline_of({roofline_row(), peer_row()})));
  EXPECT_THAT(spec["$schema"].get<std::string>(), HasSubstr("vega-lite/v5"));
  ASSERT_EQ(spec["datasets"]["points"].size(), 2u) << "a row without bytes has no place";
  EXPECT_EQ(spec["datasets"]["points"][0]["series"], "flash2");
  ASSERT_EQ(spec["hconcat"].size(), 2u);
  for (const Json& view : spec["hconcat"])
    for (const Json& layer : view["layer"]) {
      const Json& data = spec["datasets"].at(layer["data"]["name"].get<std::string>());
      EXPECT_TRUE(data[0].contains(layer["encoding"]["x"]["field"].get<std::string>()));
      EXPECT_TRUE(data[0].contains(layer["encoding"]["y"]["field"].get<std::string>()));
    }
}

TEST(RooflineOutput, GnuplotPlotsTheBlocksItDefines) {
  const std::string script =
      roofline_gnuplot(picture_of(roofline_of({roofline_row("naive"), roofline_row("it's\n$x")})));
  for (const char* block : {"$points_hbm_0", "$points_hbm_1", "$points_sm_1", "$roof_hbm_0", "$roof_sm_2"})
    EXPECT_EQ(count_of(script, block), 2u) << block;
  EXPECT_THAT(script, HasSubstr("title 'it''s\\n$x' noenhanced")) << "no name ends a string or a line";
  EXPECT_THAT(script, HasSubstr("\n200 40\n"));
  EXPECT_THAT(script, HasSubstr("set xtics (20, 50, 100)"));
}

TEST(RooflineOutput, TheTextFitsEveryWidth) {
  const Picture picture = picture_of(roofline_of({roofline_row(), roofline_row("naive", "h100-sxm")}));
  for (const size_t width : {32u, 40u, 79u, 200u})
    for (const std::string& line : lines_of(roofline_text(picture, width)))
      EXPECT_LE(line.size(), width) << line;
  EXPECT_GT(lines_of(roofline_text(picture, 200))[19].size(), 100u) << "and uses it";
}

TEST(RooflineOutput, TheTextHasEveryMarkRoofAndName) {
  Row low = roofline_row("naive");
  low.roofline.useful_tflops_per_s = 4;
  const std::string text = roofline_text(picture_of(roofline_of({roofline_row(), low, peer_row()})), 100);
  EXPECT_THAT(text, HasSubstr("o flash2, x naive"));
  EXPECT_THAT(text, HasSubstr("/ hbm 4.8 TB/s, - tensor 989 TFLOP/s, - fma 67 TFLOP/s"));
  EXPECT_THAT(text, HasSubstr("/ l2 11 TB/s"));
  ASSERT_EQ(rows_with(text, 'o').size(), 1u);
  ASSERT_EQ(rows_with(text, 'x').size(), 1u);
  EXPECT_LT(rows_with(text, 'o')[0], rows_with(text, 'x')[0]) << "a tenth of the rate stands lower";
  EXPECT_THAT(text, Not(HasSubstr("several")));
  EXPECT_THAT(text, Not(HasSubstr("torch_flash"))) << "it has no place";
}

// Two marks a decade apart stand as many rows apart as the axis says.
TEST(RooflineOutput, ATextIsLogarithmic) {
  std::vector<Row> rows;
  for (const double rate : {1.0, 10.0, 100.0}) {
    rows.push_back(roofline_row());
    rows.back().roofline.useful_tflops_per_s = rate;
  }
  const Picture picture = picture_of(roofline_of(rows));
  const std::vector<size_t> at = rows_with(roofline_text(picture, 80), 'o');
  ASSERT_EQ(at.size(), 3u);
  EXPECT_NEAR(static_cast<double>(at[1] - at[0]), static_cast<double>(at[2] - at[1]), 1);
}

TEST(RooflineOutput, PointsOfSeveralVariantsInOneCellSaySo) {
  const std::string text =
      roofline_text(picture_of(roofline_of({roofline_row(), roofline_row("flash1")})), 80);
  EXPECT_THAT(text, HasSubstr("? several"));
  EXPECT_EQ(count_of(text, "?"), 3u) << "one a panel and the legend";
}

TEST(RooflineOutput, AnEmptyPictureIsNeverDrawn) {
  EXPECT_THROW(picture_of(roofline_of({peer_row()})), EnvironmentError);
  Row no_hbm = roofline_row();
  no_hbm.roofline.hbm_intensity = std::nullopt;
  const Picture picture = picture_of(roofline_of({no_hbm}));
  ASSERT_EQ(picture.panels.size(), 1u);
  EXPECT_EQ(picture.panels[0].level, "sm");
}

TEST(RooflineOutput, LinesStayWithinTheirPanelAndMeetAtTheRidge) {
  const Picture picture = picture_of(roofline_of({roofline_row()}));
  for (const Panel& panel : picture.panels) {
    ASSERT_EQ(panel.lines.size(), 3u);
    EXPECT_DOUBLE_EQ(panel.lines[0].x1, panel.lines[1].x0) << "bandwidth and tensor peak";
    for (const RoofLine& line : panel.lines) {
      EXPECT_GE(std::min(line.x0, line.x1), panel.x_low);
      EXPECT_LE(std::max(line.x0, line.x1), panel.x_high);
      EXPECT_LE(line.y1, panel.y_high);
      EXPECT_GE(line.y0, panel.y_low);
    }
  }
}

// A GPU beside its simulation is one set of roofs; devices that differ are named.
TEST(RooflineOutput, EqualRoofsAreDrawnOnce) {
  Row simulated = roofline_row("flash2", "h200");
  simulated.provenance.backend = "sim";
  const Picture same = picture_of(roofline_of({roofline_row(), simulated}));
  EXPECT_EQ(same.series, (std::vector<std::string>{"flash2, NVIDIA H200", "flash2 (simulated), h200"}));
  ASSERT_EQ(same.panels[0].lines.size(), 3u);
  EXPECT_EQ(same.panels[0].lines[1].label, "tensor 989 TFLOP/s");
  const Picture other = picture_of(roofline_of({roofline_row(), roofline_row("flash2", "a100-sxm-80g")}));
  ASSERT_EQ(other.panels[0].lines.size(), 6u);
  EXPECT_EQ(other.panels[0].lines[4].label, "tensor, a100-sxm-80g 312 TFLOP/s");
}

TEST(RooflineOutput, NoTwoSeriesLookAlike) {
  std::vector<Row> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(roofline_row(fmt::format("v{}", i)));
  const Json spec = Json::parse(roofline_vega_lite(roofline_of(rows)));
  const Json& encoding = spec["hconcat"][0]["layer"][2]["encoding"];
  std::set<std::string> looks;
  for (size_t i = 0; i < rows.size(); ++i)
    looks.insert(encoding["color"]["scale"]["range"].at(i).dump() +
                 encoding["shape"]["scale"]["range"].at(i).dump());
  EXPECT_EQ(looks.size(), rows.size());
}

}  // namespace
}  // namespace attnprof
