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

// The bus ids whose settings were asked for, a run each.
std::vector<std::string> cards_of(const std::vector<ProcessTrace>& traces) {
  std::vector<std::string> cards;
  traced_runs(traces, RowsPer::launch, [&](const std::string& bus_id) {
    cards.push_back(bus_id);
    return std::vector<std::pair<std::string, std::string>>{};
  });
  return cards;
}

TEST(TracedRuns, CardsOfOneNameAreRunsOfTheirOwn) {
  EXPECT_THAT(cards_of({process({device(0, "18"), device(1, "2a")})}), ElementsAre("18", "2a"));
}

TEST(TracedRuns, ACardIsTheSameInEveryProcess) {
  const auto runs =
      traced_runs({process({device(0, "18"), device(1, "2a")}), process({device(0, "2a")})}, RowsPer::launch,
                  [](const std::string&) { return std::vector<std::pair<std::string, std::string>>{}; });
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_THAT(runs[0].rows, SizeIs(1));
  EXPECT_THAT(runs[1].rows, SizeIs(2));
  EXPECT_THAT(runs[1].info.environment, testing::Contains(testing::Pair("bus_id", "2a")));
}

// As parts of one card are under MIG.
TEST(TracedRuns, PartsOfACardOfOtherMemoryAreRunsOfTheirOwn) {
  EXPECT_THAT(cards_of({process({device(0, "18", 18), device(1, "18", 35)})}), ElementsAre("18", "18"));
}

}  // namespace
}  // namespace attnprof
