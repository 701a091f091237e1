// The tests' main. A process may have a share of them (GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX;
// CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace {

class Shares : public testing::EmptyTestEventListener {
  void OnTestIterationStart(const testing::UnitTest& all, int) override {
    if (all.test_to_run_count() == 0) ADD_FAILURE() << "no test was run";
    // The tests are chosen: what they start, this program too, is nobody's share.
    for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"})
      unsetenv(name);
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Shares);
  return RUN_ALL_TESTS();
}
