#include "gate/shared_identity.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

using Columns = std::vector<bool>;

TEST(SharedIdentity, CellsEndWhereARecordsDo) {
  std::vector<std::string_view> cells;
  split_key("a,,\"b,\"\"c\"\"\n\",d", cells);
  EXPECT_EQ(cells, (std::vector<std::string_view>{"a", "", "\"b,\"\"c\"\"\n\"", "d"}));
  split_key("", cells);
  EXPECT_EQ(cells, (std::vector<std::string_view>{""}));
  split_key("a,", cells);
  EXPECT_EQ(cells, (std::vector<std::string_view>{"a", ""}));
}

TEST(SharedIdentity, ColumnsThatDoNotChange) {
  SharedIdentity all(3), some(3);
  for (const char* key : {"flash2,full,64", "flash2,causal,64", "flash2,causal,128"}) all.add(key);
  EXPECT_EQ(all.columns(), (Columns{true, false, false}));
  EXPECT_EQ(all.others(), (Columns{false, true, true}));
  for (const char* key : {"flash2,causal,64", "flash2,causal,128"}) some.add(key);
  EXPECT_EQ(some.beyond(all), (Columns{false, true, false}));
  std::vector<std::string_view> cells;
  split_key("flash1,causal,1", cells);
  EXPECT_TRUE(some.matches(cells, some.beyond(all)));
  split_key("flash2,full,64", cells);
  EXPECT_FALSE(some.matches(cells, some.beyond(all)));
}

}  // namespace
}  // namespace attnprof
