#include "measure/gpu/counted_row.hpp"

#include <gtest/gtest.h>

#include "row/schema.hpp"

namespace attnprof {
namespace {

OperationCount count_of(double read, double write, double eviction_write) {
  OperationCount count;
  count.operation[Quantity::hbm_read] = read;
  count.operation[Quantity::hbm_write] = write;
  count.eviction[Quantity::hbm_write] = eviction_write;
  count.eviction[Quantity::hbm_read] = 250e6;
  return count;
}

OperationCount settling(OperationCount count, const Settling& settling) {
  count.settling = settling;
  return count;
}

TEST(SettledWrite, AddsWhatWasStillDirtyBeyondTheCleanEviction) {
  EXPECT_EQ(settled_write(settling(count_of(0, 20e6, 30.5e6), {.clean_eviction_write = 0.5e6})), 50e6);
}

TEST(SettledWrite, IsNeverBelowTheWritesInTheRange) {
  EXPECT_EQ(settled_write(settling(count_of(0, 20e6, 0.25e6), {.clean_eviction_write = 0.5e6})), 20e6);
}

// 30 MB dirty at the start: pushed out within the range in place of the operation's own, or written over.
TEST(SettledWrite, DirtyLinesOfTheRunBeforeAreNotTheOperations) {
  const Settling warm{.clean_eviction_write = 0.5e6, .dirty_before = true};
  EXPECT_EQ(settled_write(settling(count_of(0, 67e6, 30.5e6), warm)), 67e6) << "writes 67 MB each time";
  EXPECT_EQ(settled_write(settling(count_of(0, 0, 8.5e6), warm)), 8e6) << "writes the same 8 MB each time";
}

TEST(SettledWrite, IsNothingWithoutTheCounter) { EXPECT_EQ(settled_write(OperationCount{}), std::nullopt); }

TEST(CountedRow, ReadsComeFromTheOperationAlone) {
  Status status;
  const Counters row = counted_row({count_of(100e6, 0, 8e6)}, status);
  EXPECT_EQ(row.bytes_source, "cupti");
  EXPECT_EQ(row.hbm_read, 100'000'000);
  EXPECT_EQ(row.hbm_write, 8'000'000);
  EXPECT_EQ(row.hbm_write_in_kernel, 0);
  EXPECT_EQ(row.hbm_total, 108'000'000);
  EXPECT_FALSE(row.hbm_spread_pct);
  EXPECT_EQ(row.hbm_counts, 1);
  EXPECT_EQ(status.flags, "");
}

TEST(CountedRow, RepeatedCountsGiveMediansAndTheirSpread) {
  Status status;
  const Counters row =
      counted_row({count_of(100e6, 0, 0), count_of(101e6, 0, 0), count_of(100.5e6, 0, 0)}, status);
  EXPECT_EQ(row.hbm_read, 100'500'000);
  EXPECT_NEAR(*row.hbm_spread_pct, 100 * 1e6 / 100.5e6, 1e-9);
  EXPECT_EQ(row.hbm_counts, 3);
  EXPECT_EQ(status.flags, "");
}

TEST(CountedRow, FurtherCountsMayBeOfHbmAlone) {
  Status status;
  OperationCount all = count_of(100e6, 0, 0);
  all.operation[Quantity::sm_read] = 64;
  const Counters row = counted_row({all, count_of(102e6, 0, 0)}, status);
  EXPECT_EQ(row.hbm_total, 101'000'000);
  EXPECT_EQ(row.sm_read, 64);
}

TEST(CountedRow, CountsThatDisagreeAreFlagged) {
  Status status;
  counted_row({count_of(100e6, 0, 0), count_of(110e6, 0, 0)}, status);
  EXPECT_TRUE(has_flag(status, Flag::noisy_bytes));
  Status small;
  counted_row({count_of(1e6, 0, 0), count_of(1.5e6, 0, 0)}, small);
  EXPECT_EQ(small.flags, "");
}

TEST(CountedRow, WhatAChipDoesNotCountStaysEmpty) {
  Status status;
  OperationCount count;
  count.operation[Quantity::sm_read] = 64;
  const Counters row = counted_row({count, count}, status);
  EXPECT_FALSE(row.hbm_read || row.hbm_total || row.hbm_spread_pct || row.l2_read || row.l2_atomic);
  EXPECT_EQ(row.sm_read, 64);
  EXPECT_FALSE(row.sm_total);
}

TEST(CountedRow, SumsPartsThatAreCountedApart) {
  Status status;
  OperationCount count = count_of(0, 0, 0);
  CounterValues& sm = count.operation;
  sm[Quantity::sm_read] = 64;
  sm[Quantity::sm_write] = 32;
  sm[Quantity::l2_atomic] = 96;
  sm[Quantity::l2_reduction] = 32;
  sm[Quantity::tensor_flops] = 4096;
  sm[Quantity::local_load] = 10;
  sm[Quantity::local_store] = 5;
  const Counters row = counted_row({count}, status);
  EXPECT_EQ(row.sm_total, 96);
  EXPECT_EQ(row.l2_atomic, 128);
  EXPECT_EQ(row.local, 15);
  EXPECT_EQ(row.executed_tensor_flops, 4096);
}

}  // namespace
}  // namespace attnprof
