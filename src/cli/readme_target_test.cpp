// README's example of a target file is one.
#include <gtest/gtest.h>

#include "model/device_profiles.hpp"
#include "test_paths.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

TEST(Readme, ItsTargetFileLoads) {
  const std::string readme = text_of(ATTNPROF_SOURCE_DIR "/README.md");
  const size_t begin = readme.find("    {\"name\": ");
  ASSERT_NE(begin, std::string::npos) << "README.md shows no target file";
  const size_t end = readme.find("}\n", begin);
  ASSERT_NE(end, std::string::npos);
  const TemporaryFolder folder;
  const std::string file = folder / "mine.json";
  std::ofstream(file) << readme.substr(begin, end + 1 - begin);
  const DeviceProfile device = load_profile(file);
  EXPECT_EQ(device.name, "mine");
  EXPECT_FALSE(device.l2_curve.empty());
}

}  // namespace
}  // namespace attnprof
