#include "trace/trace_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

DeviceRecord device(int index, const std::string& bus_id, int64_t memory = 141) {
  DeviceRecord device;
  device.index = index;
  device.facts.name = "NVIDIA H200";
  device.facts.major = 9;
  device.facts.memory_bytes = memory;
  device.bus_id = bus_id;
  return device;
}

ProcessTrace process(const std::vector<DeviceRecord>& devices) {
  ProcessTrace trace;
  for (const DeviceRecord& device : devices) {
    trace.devices[device.index] = device;
    LaunchRecord launch;
    launch.kernel = "k" + std::to_string(device.index);
    launch.device = device.index;
    trace.launches.push_back(launch);
  }
  return trace;
}

using Facts = std::vector<std::pair<std::string, std::string>>;

std::vector<TracedRun> runs_of(const std::vector<ProcessTrace>& traces, const CardSettings& settings) {
  return traced_runs(traces, RowsPer::launch, settings);
}
Facts alike(const std::string&) { return {{"power_limit_w", "700"}}; }

TEST(TracedRuns, CardsThatAreAlikeAreOneRun) {
  std::vector<std::string> asked;
  const auto runs = runs_of({process({device(0, "18"), device(1, "2a")}), process({device(0, "2a")})},
                            [&](const std::string& bus_id) {
                              asked.push_back(bus_id);
                              return alike(bus_id);
                            });
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_THAT(runs[0].rows, SizeIs(3));
  EXPECT_THAT(runs[0].info.environment, testing::Contains(testing::Pair("power_limit_w", "700")));
  EXPECT_THAT(asked, ElementsAre("18", "2a"));
}

TEST(TracedRuns, CardsOfOneNameAndOtherSettingsAreRunsOfTheirOwn) {
  const auto runs = runs_of({process({device(0, "18"), device(1, "2a")}), process({device(0, "2a")})},
                            [](const std::string& bus_id) -> Facts {
                              return {{"power_limit_w", bus_id == "18" ? "700" : "600"}};
                            });
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_THAT(runs[0].rows, SizeIs(1));
  EXPECT_THAT(runs[1].rows, SizeIs(2));
}

// As parts of one card are under MIG.
TEST(TracedRuns, PartsOfACardOfOtherMemoryAreRunsOfTheirOwn) {
  EXPECT_THAT(runs_of({process({device(0, "18", 18), device(1, "18", 35)})}, alike), SizeIs(2));
}

}  // namespace
}  // namespace attnprof
