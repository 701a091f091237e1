#include "model/wave.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

const std::vector<Operand>& operands() {
  static const std::vector<Operand> all = {{"Q", Role::input, Init::random, Dtype::fp16, 1, 4, 1024, 64, 64},
                                           {"K", Role::input, Init::random, Dtype::fp16, 1, 4, 1024, 64, 64}};
  return all;
}

std::vector<Access> waves(const Schedule& schedule, int64_t resident, SmTraffic* traffic = nullptr) {
  std::vector<Access> seen;
  CountingMachine machine(operands());
  run_in_waves(schedule, resident, machine, [&](const Access& access, SlotIndex) { seen.push_back(access); });
  if (traffic) *traffic = machine.traffic();
  return seen;
}

// Every block reads its own rows of Q, far from its neighbours', `reads` times.
Schedule apart(int64_t ctas, int64_t reads) {
  return {ctas, [reads](int64_t cta, TileMachine& machine) {
            for (int64_t i = 0; i < reads; ++i) machine.read({0, 0, cta * 64 + i * 4, 4, 0, 64});
          }};
}

TEST(Waves, ResidentBlocksTakeTurns) {
  std::vector<int> blocks;
  for (const Access& access : waves(apart(4, 3), 2)) blocks.push_back(access.row / 64);
  EXPECT_EQ(blocks, (std::vector<int>{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
}

TEST(Waves, AFinishedBlockMakesRoomForTheNext) {
  const Schedule uneven{3, [](int64_t cta, TileMachine& machine) {
                          for (int64_t i = 0; i < (cta == 0 ? 4 : 1); ++i)
                            machine.read({0, 0, cta * 64 + i * 4, 4, 0, 64});
                        }};
  std::vector<int> blocks;
  for (const Access& access : waves(uneven, 2)) blocks.push_back(access.row / 64);
  EXPECT_EQ(blocks, (std::vector<int>{0, 1, 0, 2, 0, 0}));
}

TEST(Waves, EqualAndAdjoiningAccessesOfNeighboursAreJoined) {
  const Schedule same{8, [](int64_t, TileMachine& machine) { machine.read({1, 0, 0, 64, 0, 64}); }};
  SmTraffic traffic;
  EXPECT_EQ(waves(same, 8, &traffic).size(), 1u);
  EXPECT_EQ(traffic.accesses, 8) << "the SMs still each receive it";
  const Schedule rows{8, [](int64_t cta, TileMachine& machine) { machine.read({0, 0, cta, 1, 0, 64}); }};
  const auto joined = waves(rows, 8);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].rows, 8);
}

TEST(Waves, WhatSeveralBlocksReadIsSaid) {
  const auto slots_of = [](const Schedule& schedule) {
    std::vector<SlotIndex> slots;
    CountingMachine machine(operands());
    run_in_waves(schedule, 3, machine, [&](const Access&, SlotIndex slot) { slots.push_back(slot); });
    return slots;
  };
  EXPECT_EQ(slots_of(apart(4, 1)), (std::vector<SlotIndex>{0, 1, 2, 0}));
  EXPECT_EQ(slots_of({3,
                      [](int64_t, TileMachine& machine) {
                        machine.read({1, 0, 0, 64, 0, 64});
                      }}),
            (std::vector<SlotIndex>{several_slots}));
  EXPECT_EQ(slots_of({3,
                      [](int64_t cta, TileMachine& machine) {
                        machine.read({0, 0, cta, 1, 0, 64});
                      }}),
            (std::vector<SlotIndex>{0}));
}

TEST(Waves, BlocksThatAccessNothingArePassedOver) {
  const Schedule half{6, [](int64_t cta, TileMachine& machine) {
                        if (cta % 2 == 1) machine.read({0, 0, cta * 64, 4, 0, 64});
                      }};
  EXPECT_EQ(waves(half, 2).size(), 3u);
  EXPECT_TRUE(waves({3, [](int64_t, TileMachine&) {}}, 2).empty());
  EXPECT_TRUE(waves({0, [](int64_t, TileMachine&) {}}, 2).empty());
}

}  // namespace
}  // namespace attnprof
