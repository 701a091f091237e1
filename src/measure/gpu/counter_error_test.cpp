#include "measure/gpu/counter_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace attnprof {
namespace {

using testing::HasSubstr;

TEST(CounterError, EveryKnownCauseNamesItsRemedy) {
  const std::pair<int, std::vector<const char*>> expected[] = {
      {35,
       {"CAP_SYS_ADMIN", "CAP_PERFMON", "--cap-add=SYS_ADMIN", "NVreg_RestrictProfilingToAdminUsers=0",
        "root in a container is not enough"}},
      {39, {"ncu", "compute-sanitizer"}},
      {26, {"DCGM"}},
      {40, {"virtual GPU"}},
      {43, {"MIG"}},
      {41, {"confidential computing"}},
      {45, {"WSL"}},
      {15, {"driver"}},
      {46, {"chip"}},
      {1, {"headers"}},
  };
  for (const auto& [number, words] : expected) {
    const std::string sentence = explain_counter_error(static_cast<CUptiResult>(number), "cuptiCall");
    for (const char* word : words) EXPECT_THAT(sentence, HasSubstr(word));
    EXPECT_THAT(sentence, HasSubstr("[cuptiCall: CUPTI error " + std::to_string(number) + "]"));
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
  }
}

TEST(CounterError, AnUnknownOneKeepsItsNumber) {
  EXPECT_THAT(explain_counter_error(CUPTI_ERROR_UNKNOWN, "cuptiCall"), HasSubstr("CUPTI error 999"));
}

TEST(CounterPermission, IsReadFromTheDriversParameters) {
  const std::string path = testing::TempDir() + "attnprof_driver_params";
  std::ofstream(path) << "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n";
  EXPECT_EQ(counters_are_restricted(path), true);
  std::ofstream(path) << "RmProfilingAdminOnly: 0\nModifyDeviceFiles: 1\n";
  EXPECT_EQ(counters_are_restricted(path), false);
  std::ofstream(path) << "ModifyDeviceFiles: 1\n";
  EXPECT_EQ(counters_are_restricted(path), std::nullopt);
  std::filesystem::remove(path);
  EXPECT_EQ(counters_are_restricted(path), std::nullopt);
}

}  // namespace
}  // namespace attnprof
