#include "model/wave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/block_traces.hpp"

namespace attnprof {
namespace {

const OperandList& tensors() {
  const auto tensor = [](const char* name, OperandId id) {
    return Operand{name, Role::input, Init::random, ElementType::fp16, 1, 4, 1024, 64, 64, id};
  };
  static const OperandList all = {tensor("Q", operand_q), tensor("K", operand_k)};
  return all;
}

std::vector<Access> waves(const Schedule& schedule, int64_t resident, SmTraffic* traffic = nullptr) {
  std::vector<Access> seen;
  CountingMachine machine(tensors());
  run_in_waves(schedule, resident, machine, Deadline(60),
               [&](const Access& access, SlotIndex) { seen.push_back(access); });
  if (traffic) *traffic = machine.traffic();
  return seen;
}

// Every block reads its own rows of Q, far from its neighbours', `reads` times.
Schedule apart(int64_t ctas, int64_t reads) {
  return {ctas, [reads](int64_t cta, TileMachine& machine) {
            for (int64_t i = 0; i < reads; ++i) machine.read({operand_q, 0, cta * 64 + i * 4, 4, 0, 64});
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
                            machine.read({operand_q, 0, cta * 64 + i * 4, 4, 0, 64});
                        }};
  std::vector<int> blocks;
  for (const Access& access : waves(uneven, 2)) blocks.push_back(access.row / 64);
  EXPECT_EQ(blocks, (std::vector<int>{0, 1, 0, 2, 0, 0}));
}

TEST(Waves, EqualAndAdjoiningAccessesOfNeighboursAreJoined) {
  const Schedule same{8, [](int64_t, TileMachine& machine) { machine.read({operand_k, 0, 0, 64, 0, 64}); }};
  SmTraffic traffic;
  EXPECT_EQ(waves(same, 8, &traffic).size(), 1u);
  EXPECT_EQ(traffic.accesses, 8) << "the SMs still each receive it";
  const Schedule rows{8, [](int64_t cta, TileMachine& machine) {
                        machine.read({operand_q, 0, cta, 1, 0, 64});
                      }};
  const auto joined = waves(rows, 8);
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].rows, 8);
}

TEST(Waves, WhatSeveralBlocksReadIsSaid) {
  const auto slots_of = [](const Schedule& schedule) {
    std::vector<SlotIndex> slots;
    CountingMachine machine(tensors());
    run_in_waves(schedule, 3, machine, Deadline(60),
                 [&](const Access&, SlotIndex slot) { slots.push_back(slot); });
    return slots;
  };
  EXPECT_EQ(slots_of(apart(4, 1)), (std::vector<SlotIndex>{0, 1, 2, 0}));
  EXPECT_EQ(slots_of({3,
                      [](int64_t, TileMachine& machine) {
                        machine.read({operand_k, 0, 0, 64, 0, 64});
                      }}),
            (std::vector<SlotIndex>{several_slots}));
  EXPECT_EQ(slots_of({3,
                      [](int64_t cta, TileMachine& machine) {
                        machine.read({operand_q, 0, cta, 1, 0, 64});
                      }}),
            (std::vector<SlotIndex>{0}));
}

TEST(Waves, BlocksThatAccessNothingArePassedOver) {
  const Schedule half{6, [](int64_t cta, TileMachine& machine) {
                        if (cta % 2 == 1) machine.read({operand_q, 0, cta * 64, 4, 0, 64});
                      }};
  EXPECT_EQ(waves(half, 2).size(), 3u);
  EXPECT_TRUE(waves({3, [](int64_t, TileMachine&) {}}, 2).empty());
  EXPECT_TRUE(waves({0, [](int64_t, TileMachine&) {}}, 2).empty());
}

// What turns are made of, written down plainly: every block's whole list.
std::vector<Access> turns_of_lists(const Schedule& schedule, size_t resident) {
  CountingMachine machine(tensors());
  std::vector<std::vector<Access>> places(resident);
  int64_t next = 0;
  const auto take = [&](std::vector<Access>& place) {
    place.clear();
    machine.record_into(&place);
    while (place.empty() && next < schedule.ctas) schedule.run(next++, machine);
    std::ranges::reverse(place);
  };
  for (auto& place : places) take(place);
  std::vector<Access> seen;
  while (std::ranges::any_of(places, [](const auto& place) { return !place.empty(); }))
    for (auto& place : places) {
      if (place.empty()) continue;
      seen.push_back(place.back());
      place.pop_back();
      if (place.empty()) take(place);
    }
  return seen;
}

// Blocks are shorter than a stretch, as long, longer, empty: what reaches L2 is what their lists would be.
TEST(Waves, LongBlocksAreStreamsOfTheSameAccesses) {
  const std::vector<int64_t> lengths = {
      5, stretch_accesses - 1,     0, stretch_accesses, stretch_accesses + 1, 3 * stretch_accesses, 0, 0,
      1, 2 * stretch_accesses + 7, 3};
  // Each block has its own columns, so that no two are joined; empty reads fill a stretch with nothing.
  const Schedule uneven{std::ssize(lengths), [&](int64_t cta, TileMachine& machine) {
                          if (cta == 1)
                            for (int64_t i = 0; i < 2 * stretch_accesses; ++i)
                              machine.read({operand_q, 0, 0, 0, 0, 64});
                          for (int64_t i = 0; i < lengths[static_cast<size_t>(cta)]; ++i)
                            machine.read({operand_q, cta / 4, i % 500 * 2, 1, cta % 4 * 16, 16});
                        }};
  for (const size_t resident : {1, 2, 3, 8}) {
    SmTraffic traffic;
    const std::vector<Access> seen = waves(uneven, static_cast<int64_t>(resident), &traffic);
    EXPECT_TRUE(std::ranges::equal(seen, turns_of_lists(uneven, resident),
                                   [](const Access& a, const Access& b) {
                                     return a.operand == b.operand && a.slice == b.slice && a.row == b.row &&
                                            a.rows == b.rows;
                                   }))
        << resident;
    EXPECT_EQ(traffic.read_bytes, 32 * std::accumulate(lengths.begin(), lengths.end(), int64_t{0}))
        << "a block that is begun again is counted once";
  }
}

TEST(Waves, EndAtTheDeadline) {
  CountingMachine machine(tensors());
  EXPECT_THROW(run_in_waves(apart(1'000'000, 2), 3, machine, Deadline(-1), [](const Access&, SlotIndex) {}),
               OutOfTime);
  const Schedule nothing{1'000'000'000'000, [](int64_t, TileMachine&) {}};
  EXPECT_THROW(run_in_waves(nothing, 3, machine, Deadline(0.1), [](const Access&, SlotIndex) {}), OutOfTime);
  const Schedule endless{2, [](int64_t, TileMachine& m) {
                           for (;;) m.read({operand_q, 0, 0, 4, 0, 64});
                         }};
  EXPECT_THROW(run_in_waves(endless, 3, machine, Deadline(0.1), [](const Access&, SlotIndex) {}), OutOfTime);
}

}  // namespace
}  // namespace attnprof
