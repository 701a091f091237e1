#include "roofline/levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "roofline/resources.hpp"
#include "roofline/roofs.hpp"
#include "roofline/row_roofline.hpp"
#include "row/schema.hpp"
#include "testing/levels.hpp"
#include "testing/round_device.hpp"

namespace attnprof {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using Texts = std::vector<std::string>;

// The name and the member of a column of a level are said beside each other: they must be those of one
// column.
template <class Group, class Value>
void expect_is_in_schema(const LevelColumn<Group, Value>& level_column, Group Row::*group) {
  if (!level_column) return;
  const Column* column = find_column(level_column.name);
  ASSERT_NE(column, nullptr) << level_column.name;
  Row row;
  const Field field = column->field(row);
  ASSERT_TRUE(std::holds_alternative<Value*>(field)) << level_column.name;
  EXPECT_EQ(std::get<Value*>(field), &(row.*group.*level_column.value)) << level_column.name;
}

void expect_are_in_schema(const LevelBytes& bytes) {
  for (const CountedColumn& column : {bytes.total, bytes.read, bytes.write})
    expect_is_in_schema(column, &Row::counters);
}

TEST(Levels, ThoseWithARoofHaveAColumnOfAllTheirBytes) {
  EXPECT_TRUE(memory_levels().front().has_rate()) << "the roof of a row is by the first";
  // Resources, files that are read and plots know such a level by that column.
  for (const Level& level : memory_levels())
    EXPECT_TRUE(!level.has_rate() || level.bytes.total) << level.name;
}

TEST(Levels, NameTheColumnsThatTheyRead) {
  for (const Level& level : memory_levels()) {
    expect_are_in_schema(level.bytes);
    expect_are_in_schema(level.lower_bound);
    expect_is_in_schema(level.write_in_kernel, &Row::counters);
    for (const ModelledColumn& column : {level.modelled, level.least})
      expect_is_in_schema(column, &Row::model);
    expect_is_in_schema(level.intensity, &Row::roofline);
  }
}

// Whoever gives a row bytes of a new level by way of its columns is reminded of the list.
TEST(Levels, EveryIntensityOfARowIsALevels) {
  Texts of_levels, of_rows;
  for (const Level& level : memory_levels()) of_levels.emplace_back(level.intensity.name);
  for (const Column& column : schema())
    if (column.name.ends_with("_intensity")) of_rows.emplace_back(column.name);
  EXPECT_EQ(of_levels, of_rows);
}

TEST(Levels, EveryBandwidthOfADeviceIsHeldAgainstALevel) {
  Texts of_levels, of_devices;
  for (const Level& level : levels_with_rate(memory_levels())) of_levels.emplace_back(level.bandwidth->name);
  for (const Bandwidth& each : bandwidths) of_devices.emplace_back(each.name);
  EXPECT_EQ(of_levels, of_devices);
}

TEST(Levels, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names, titles;
  for (const Level& level : memory_levels()) {
    EXPECT_TRUE(names.insert(level.name).second) << level.name;
    EXPECT_TRUE(titles.insert(level.title).second) << level.title;
  }
  EXPECT_FALSE(names.contains("none")) << "the level of points without bytes";
}

// What is held against a rate is everywhere a row is: among its intensities, roofs, resources, and bounds.
// Parameter: with a link too.
class EachLevel : public testing::TestWithParam<bool> {
 protected:
  std::span<const Level> levels() const { return levels_for_test(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(WithALink, EachLevel, testing::Bool());

TEST_P(EachLevel, HasAnIntensity) {
  Row row = row_with_bytes(levels());
  fill_roofline(row, device_with_a_link(), {}, levels());
  for (const Level& level : levels()) {
    ASSERT_TRUE(row.roofline.*level.intensity.value) << level.name;
    EXPECT_DOUBLE_EQ(*(row.roofline.*level.intensity.value),
                     as_double(row.model.useful_flops) / as_double(level.bytes.count(row)));
  }
}

TEST_P(EachLevel, WithARateHasARoof) {
  const RunDevice device{.profile = device_with_a_link(), .recorded = {}};
  const std::vector<Roof> roofs = roofs_of(device, Dtype::fp16, levels());
  for (const Level& level : levels_with_rate(levels())) {
    const auto found = std::ranges::find(roofs, level.name, &Roof::level);
    ASSERT_NE(found, roofs.end()) << level.name;
    EXPECT_EQ(found->name, level.bandwidth->name);
    EXPECT_EQ(found->kind, RoofKind::bandwidth);
    EXPECT_EQ(found->value, device.profile.*level.bandwidth->nominal);
  }
  const RunDevice unknown;
  for (const Level& level : levels_with_rate(levels()))
    EXPECT_THAT(missing_roofs(unknown, Dtype::fp16, levels()), HasSubstr(std::string(level.bandwidth->name)));
}

TEST_P(EachLevel, WithARateIsAResourceThatCanBind) {
  const DeviceProfile device = device_with_a_link();
  const Rates rates = rates_at(device, {}, Dtype::fp16, std::nullopt);
  for (const Level& level : levels_with_rate(levels())) {
    const std::string name(level.bandwidth->name);
    Row row = row_with_bytes(levels());
    row.counters.*level.bytes.total.value = 90'000'000'000;
    const double ns = 90e9 / device.*level.bandwidth->nominal;
    row.latency.median_ns = ns;
    const ResourceTable table = resource_times(row, rates, {}, levels());
    const auto found = std::ranges::find(table.times, name, &ResourceTime::name);
    ASSERT_NE(found, table.times.end()) << name;
    EXPECT_DOUBLE_EQ(found->ns, ns) << name;
    EXPECT_EQ(found->columns, Texts{std::string(level.bytes.total.name)});
    EXPECT_EQ(binding_resource(table, ns, levels()), name);
    fill_roofline(row, device, {}, levels());
    EXPECT_EQ(row.roofline.bound, name);
  }
}

// Without one of the levels that every case has, what binds is not known.
TEST_P(EachLevel, WithoutItsBytesLeavesTheBoundOpenWhereItIsEverywhere) {
  const Rates rates = rates_at(device_with_a_link(), {}, Dtype::fp16, std::nullopt);
  for (const Level& level : levels_with_rate(levels())) {
    const std::string name(level.bandwidth->name);
    Row row = row_with_bytes(levels());
    for (const CountedColumn& column : {level.bytes.total, level.lower_bound.read, level.lower_bound.write})
      if (column) row.counters.*column.value = std::nullopt;
    const ResourceTable table = resource_times(row, rates, {}, levels());
    Texts missing;
    for (const MissingResource& each : table.missing) missing.push_back(each.name);
    if (level.everywhere)
      EXPECT_THAT(missing, Contains(name));
    else
      EXPECT_THAT(missing, Not(Contains(name)));
    EXPECT_EQ(binding_resource(table, 1, levels()).empty(), level.everywhere) << name;
  }
}

TEST(Levels, AnEntryMoreIsARoofAndAResourceMore) {
  const RunDevice device{.profile = device_with_a_link(), .recorded = {}};
  Texts roofs, resources;
  for (const Roof& roof : roofs_of(device, Dtype::fp16, with_a_link())) roofs.push_back(roof.name);
  EXPECT_THAT(roofs, ElementsAre("hbm", "l2", "link", "tensor", "fma"));
  const Rates rates = rates_at(device.profile, {}, Dtype::fp16, std::nullopt);
  const Row row = row_with_bytes(with_a_link());
  for (const ResourceTime& each : resource_times(row, rates, {}, with_a_link()).times)
    resources.push_back(each.name);
  EXPECT_THAT(resources, IsSupersetOf({"hbm", "l2", "link"}));
}

}  // namespace
}  // namespace attnprof
