#include "base/fitted_table.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

const std::vector<std::vector<std::string>> example_lines = {
    {"name", "of the time", "what"}, {"hbm", "4 %", "read and written, as counted"}, {"  l2", "25 %", "-"}};

TEST(FittedTable, WideEnoughItIsPlain) {
  EXPECT_EQ(fitted_table(example_lines, 80),
            "name  of the time  what\n"
            "hbm   4 %          read and written, as counted\n"
            "  l2  25 %         -\n");
}

TEST(FittedTable, TitlesAreBrokenFirst) {
  EXPECT_EQ(fitted_table(example_lines, 40),
            "name  of    what\n"
            "      the\n"
            "      time\n"
            "hbm   4 %   read and written, as counted\n"
            "  l2  25 %  -\n");
}

TEST(FittedTable, ThenGapsAreNarrowThenCellsAreBroken) {
  EXPECT_EQ(fitted_table(example_lines, 38),
            "name of   what\n"
            "     the\n"
            "     time\n"
            "hbm  4 %  read and written, as counted\n"
            "  l2 25 % -\n");
  EXPECT_EQ(fitted_table(example_lines, 28),
            "name  of    what\n"
            "      the\n"
            "      time\n"
            "hbm   4 %   read and\n"
            "            written, as\n"
            "            counted\n"
            "  l2  25 %  -\n");
}

TEST(FittedTable, ANumberKeepsItsUnitWhereTextCanBeBroken) {
  EXPECT_EQ(fitted_table({{"x", "y"}, {"14.9 us", "one of several causes"}}, 18),
            "x        y\n14.9 us  one of\n         several\n         causes\n");
}

TEST(FittedTable, NoLineIsWider) {
  EXPECT_EQ(fitted_table({{"a", "b"}, {"1", "averylongwordwithoutanyspace"}}, 10), "a b\n1 averylon\n");
  EXPECT_EQ(fitted_table({}, 10), "");
}

TEST(FittedTable, KeepsABreakUnderItsBeginning) {
  EXPECT_EQ(fitted_table({{"factor", "x"}, {"  one two", "1"}}, 9), "factor  x\n  one   1\n  two\n");
}

}  // namespace
}  // namespace attnprof
