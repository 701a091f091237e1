#include "row/schema.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/error.hpp"

namespace attnprof {
namespace {

TEST(Schema, NamesAreUniqueAndDescribed) {
  std::set<std::string_view> names;
  for (const Column& column : schema()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.description.empty()) << column.name;
  }
}

TEST(Schema, EveryColumnHasAFieldOfItsOwn) {
  Row row;
  std::set<void*> fields;
  for (const Column& column : schema())
    EXPECT_TRUE(
        fields.insert(std::visit([](auto* field) -> void* { return field; }, column.field(row))).second)
        << column.name;
}

TEST(Schema, AnEmptyRowHasOnlyEmptyCells) {
  const Row row;
  for (const Column& column : schema()) EXPECT_EQ(cell(column, row), "") << column.name;
}

TEST(Schema, CellsRoundTrip) {
  Row row;
  for (const Column& column : schema()) {
    set_cell(column, row, "12");
    EXPECT_EQ(cell(column, row), "12") << column.name;
  }
}

TEST(Schema, NumbersThatAreNoneAreRefusedByName) {
  Row row;
  const Column* bytes = find_column("hbm_bytes");
  const Column* latency = find_column("latency_median_ns");
  ASSERT_TRUE(bytes && latency);
  for (const char* text : {"nan", "inf", "9,99", "1e", " 1", "abc"})
    EXPECT_THROW(set_cell(*latency, row, text), UsageError) << text;
  EXPECT_THROW(set_cell(*bytes, row, "1.5"), UsageError);
}

TEST(Schema, NanNeverReachesACell) {
  Row row;
  row.latency.median_ns = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(cell(*find_column("latency_median_ns"), row), "");
}

TEST(Flags, AreExplainedInTheirColumn) {
  const std::string_view description = find_column("flags")->description;
  for (int flag = 0; flag <= static_cast<int>(Flag::other_launches); ++flag) {
    const std::string name(to_string(static_cast<Flag>(flag)));
    EXPECT_NE(description.find("`" + name + "` ("), std::string_view::npos) << name;
  }
}

TEST(Flags, AreAddedOnce) {
  Row row;
  add_flag(row.status, Flag::drift);
  add_flag(row.status, Flag::few_samples);
  add_flag(row.status, Flag::drift);
  EXPECT_EQ(row.status.flags, "drift;few_samples");
  EXPECT_FALSE(has_flag(row.status, Flag::throttled));
}

}  // namespace
}  // namespace attnprof
