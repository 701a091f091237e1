#include "measure/gpu/ceiling_cache.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

class CeilingCacheTest : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::string root = folder / "";
  const Ceilings some = {{"hbm_read_gbps", {4310, 0.5, 40, 1980, 4800}}};
};

TEST_F(CeilingCacheTest, KeepsWhatHangsOnTheSameThings) {
  const CeilingCache cache(root, "an H200");
  EXPECT_FALSE(cache.find());
  cache.keep(some);
  ASSERT_TRUE(CeilingCache(root, "an H200").find());
  EXPECT_EQ(CeilingCache(root, "an H200").find()->at("hbm_read_gbps").median, 4310);
  EXPECT_FALSE(CeilingCache(root, "an H200 at another power limit").find());
}

TEST_F(CeilingCacheTest, AFileThatIsNoneIsReplaced) {
  const CeilingCache cache(root, "an H200");
  cache.keep(some);
  for (const char* text :
       {"", "{", "[]", "{}", R"({"hbm_read_gbps": 4310})", R"({"hbm_read_gbps": {"median": -1}})"}) {
    std::ofstream(cache.file(), std::ios::trunc) << text;
    EXPECT_FALSE(cache.find()) << text;
  }
  cache.keep(some);
  EXPECT_TRUE(cache.find());
}

TEST_F(CeilingCacheTest, AFolderThatCannotBeWrittenKeepsNothing) {
  std::ofstream(folder / "ceilings") << "a file where the folder should be";
  const CeilingCache cache(root, "an H200");
  cache.keep(some);
  EXPECT_FALSE(cache.find());
}

}  // namespace
}  // namespace attnprof
