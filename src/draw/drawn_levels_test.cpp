// Every level that has a rate is drawn, by every way of drawing.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_names.hpp"
#include "draw/roofline_output.hpp"
#include "testing/levels.hpp"
#include "testing/roofline_rows.hpp"

namespace attnprof {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Texts = std::vector<std::string>;

// Parameter: with a link too.
class DrawnLevels : public testing::TestWithParam<bool> {
 protected:
  // A row of an H200 at each level, at 10 FLOP a byte at the first, 20 at the second and so on.
  DrawnLevels() {
    Row row = roofline_row();
    double intensity = 0;
    const std::span<const Level> levels = levels_for_test(GetParam());
    for (const Level& level : levels) row.roofline.*level.intensity.value = intensity += 10;
    std::vector<std::string> notices;
    data_ = collect_roofline({{"rows.csv", {row}, {}}}, notices, levels);
    for (const Level& level : levels_with_rate(levels)) {
      names_.emplace_back(level.name);
      titles_.emplace_back(level.title);
    }
  }

  RooflineData data_;
  Texts names_, titles_;
};

INSTANTIATE_TEST_SUITE_P(WithALink, DrawnLevels, testing::Bool());

TEST_P(DrawnLevels, HaveAPointAndARoof) {
  Texts points, roofs;
  for (const RooflinePoint& point : data_.points) {
    points.push_back(point.level);
    EXPECT_TRUE(point.roof_tflops_per_s) << point.level;
  }
  for (const Roof& roof : data_.roofs)
    if (roof.kind == RoofKind::bandwidth) roofs.push_back(roof.level);
  EXPECT_THAT(points, ElementsAreArray(names_));
  EXPECT_THAT(roofs, ElementsAreArray(names_));
}

TEST_P(DrawnLevels, HaveAPanelWithTheirPointAndTheirRoofs) {
  Texts panels;
  for (const Panel& panel : picture_of(data_).panels) {
    panels.push_back(panel.level);
    EXPECT_EQ(panel.points.size(), 1u);
    EXPECT_THAT(panel.lines, Contains(testing::Field(&RoofLine::kind, RoofKind::bandwidth))) << panel.level;
  }
  EXPECT_THAT(panels, ElementsAreArray(names_));
}

TEST_P(DrawnLevels, AreInTheData) {
  const Json json = Json::parse(roofline_json(data_));
  const std::string csv = roofline_csv(data_);
  Texts points, roofs;
  for (const Json& point : json["points"]) points.push_back(point["level"]);
  for (const Json& roof : json["roofs"])
    if (!roof["level"].is_null()) roofs.push_back(roof["level"]);
  EXPECT_THAT(points, ElementsAreArray(names_));
  EXPECT_THAT(roofs, ElementsAreArray(names_));
  for (const std::string& name : names_) {
    EXPECT_THAT(csv, HasSubstr(fmt::format("point,{},", name)));
    EXPECT_THAT(csv, HasSubstr(fmt::format("roof,{},", name)));
  }
}

TEST_P(DrawnLevels, AreInEveryPicture) {
  const Picture picture = picture_of(data_);
  const std::string text = roofline_text(picture, 80), gnuplot = roofline_gnuplot(picture);
  const Json spec = Json::parse(roofline_vega_lite(data_));
  Texts views;
  for (const Json& view : spec["hconcat"]) views.push_back(view["title"]);
  EXPECT_THAT(views, ElementsAreArray(titles_));
  for (const std::string& title : titles_) {
    EXPECT_THAT(text, HasSubstr(title + ": useful TFLOP/s over"));
    EXPECT_THAT(gnuplot, HasSubstr(fmt::format("set title '{}'", title)));
  }
  for (const std::string& name : names_) {
    EXPECT_THAT(gnuplot, HasSubstr(fmt::format("$points_{}_0", name)));
    EXPECT_THAT(gnuplot, HasSubstr(fmt::format("$roof_{}_0", name)));
  }
}

TEST(DrawnLevel, AnEntryMoreIsAPanelMore) {
  Row row = roofline_row();
  row.roofline.l2_intensity = 5;  // below the ridge, so that the slope is in the panel
  std::vector<std::string> notices;
  const RooflineData data = collect_roofline({{"rows.csv", {row}, {}}}, notices, with_a_link());
  const Picture picture = picture_of(data);
  ASSERT_EQ(picture.panels.size(), 3u);
  EXPECT_EQ(picture.panels[2].title + ": " + picture.panels[2].x_title,
            "Between GPUs: useful FLOPs a byte between GPUs");
  EXPECT_DOUBLE_EQ(picture.panels[2].points[0].x, 5);
  EXPECT_THAT(picture.panels[2].lines, Contains(testing::Field(&RoofLine::name, "link")));
}

}  // namespace
}  // namespace attnprof
