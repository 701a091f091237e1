#include "base/nearest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> command_words = {"sweep", "tune", "list", "compile", "gate", "baseline"};
const std::vector<std::string> option_words = {"--output", "--overwrite", "--columns", "--counters",
                                               "-N",       "-d",          "-o"};

TEST(Nearest, DistanceCountsWhatFingersDo) {
  EXPECT_EQ(edit_distance("sweep", "sweep"), 0u);
  EXPECT_EQ(edit_distance("swep", "sweep"), 1u) << "left out";
  EXPECT_EQ(edit_distance("sweeep", "sweep"), 1u) << "added";
  EXPECT_EQ(edit_distance("swoep", "sweep"), 1u) << "changed";
  EXPECT_EQ(edit_distance("swepe", "sweep"), 1u) << "swapped";
  EXPECT_EQ(edit_distance("Sweep", "sWEEP"), 0u) << "capitals";
  EXPECT_EQ(edit_distance("", "gate"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, SeveralThatAreEquallyNear) {
  EXPECT_THAT(nearest("swep", command_words), ElementsAre("sweep"));
  EXPECT_THAT(nearest("flash9", {"naive", "flash1", "flash2", "flash3"}),
              ElementsAre("flash1", "flash2", "flash3"));
  EXPECT_THAT(nearest("--out", option_words), ElementsAre("--output")) << "which begins so";
  EXPECT_THAT(nearest("--colums", option_words), ElementsAre("--columns"));
  EXPECT_THAT(nearest("-n", option_words), ElementsAre("-N"));
}

TEST(Nearest, NothingIsLikeIt) {
  EXPECT_THAT(nearest("frobnicate", command_words), IsEmpty());
  EXPECT_THAT(nearest("", command_words), IsEmpty());
  EXPECT_THAT(nearest("x", {"a", "b"}), IsEmpty()) << "every letter is another";
  EXPECT_THAT(nearest(std::string(100'000, 'x'), command_words), IsEmpty());
  EXPECT_THAT(nearest("--", {"--aa", "--bb", "--cc", "--dd", "--ee"}), IsEmpty())
      << "too many to look through";
}

TEST(Nearest, EndsASentence) {
  EXPECT_EQ(did_you_mean("swep", command_words), "; did you mean sweep?");
  EXPECT_EQ(did_you_mean("flash9", {"flash1", "flash2", "flash3"}),
            "; did you mean flash1, flash2 or flash3?");
  EXPECT_EQ(did_you_mean("frobnicate", command_words), "");
  EXPECT_EQ(did_you_mean("frobnicate", command_words, "see --help"), "; see --help");
}

}  // namespace
}  // namespace attnprof
