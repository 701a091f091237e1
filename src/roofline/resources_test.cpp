#include "roofline/resources.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/device_profiles.hpp"
#include "testing/round_device.hpp"

namespace attnprof {
namespace {

Ceiling ceiling(double median, std::optional<double> clock = {}) {
  Ceiling c;
  c.median = median;
  c.sm_clock_mhz = clock;
  return c;
}

// Round rates: HBM 1 TB/s, L2 4, shared memory 10, tensor 100 TFLOP/s, FMA 10, 1e12 exponentials a second, 1
// us a launch.
DeviceProfile device() {
  DeviceProfile d = round_device();
  d.arch = "sm_80";
  d.smem_gbps = 10000;
  d.launch_us = 1;
  return d;
}

Rates rates() { return rates_at(device(), {}, Dtype::fp16, std::nullopt); }

// 100 us; each resource needs 10 us, but exp 2.5 and launch 1.
Row row() {
  Row r;
  r.identity.word("dtype") = "fp16";
  r.identity.count("head_dim") = 100;
  r.model.useful_flops = 1'000'000'000;
  r.latency.median_ns = 100'000;
  r.counters.hbm_total = 10'000'000;
  r.counters.sm_total = 40'000'000;
  r.counters.executed_tensor_flops = 1'000'000'000;
  r.build.launches = 1;
  return r;
}

Unseen unseen() { return {.fma_flops = 0.0, .exponentials = 2.5e6, .smem_bytes = 1e8}; }

double ns_of(const ResourceTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.times, name, &ResourceTime::name);
  return found == table.times.end() ? -1 : found->ns;
}

std::string bound(const Row& r, const Unseen& u) {
  return binding_resource(resource_times(r, rates(), u), *r.latency.median_ns);
}

TEST(Resources, ByHand) {
  const ResourceTable table = resource_times(row(), rates(), unseen());
  EXPECT_DOUBLE_EQ(ns_of(table, "hbm"), 10'000);
  EXPECT_DOUBLE_EQ(ns_of(table, "l2"), 10'000);
  EXPECT_DOUBLE_EQ(ns_of(table, "smem"), 10'000);
  EXPECT_DOUBLE_EQ(ns_of(table, "tensor"), 10'000);
  EXPECT_DOUBLE_EQ(ns_of(table, "exp"), 2'500);
  EXPECT_DOUBLE_EQ(ns_of(table, "launch"), 1'000);
  EXPECT_TRUE(table.missing.empty());
}

// A row made to be bound by each, and by none.
TEST(Resources, EachCanBind) {
  EXPECT_EQ(bound(row(), unseen()), "latency") << "10 of 100 us";
  Row r = row();
  r.counters.hbm_total = 60'000'000;
  EXPECT_EQ(bound(r, unseen()), "hbm");
  r = row();
  r.counters.sm_total = 240'000'000;
  EXPECT_EQ(bound(r, unseen()), "l2");
  r = row();
  r.counters.executed_tensor_flops = 6'000'000'000;
  EXPECT_EQ(bound(r, unseen()), "tensor");
  r = row();
  r.counters.executed_tensor_flops = 0;
  Unseen u = unseen();
  u.fma_flops = 6e8;
  EXPECT_EQ(bound(r, u), "fma");
  u = unseen();
  u.smem_bytes = 6e8;
  EXPECT_EQ(bound(row(), u), "smem");
  u = unseen();
  u.exponentials = 6e7;
  EXPECT_EQ(bound(row(), u), "exp");
  r = row();
  r.build.launches = 60;
  EXPECT_EQ(bound(r, unseen()), "launch");
}

TEST(Resources, NamesTheColumnsAndTheRate) {
  Row r = row();
  r.counters.l2_read = 20'000'000;
  r.counters.l2_write = 4'000'000;
  for (const ResourceTime& each : resource_times(r, rates(), unseen()).times) {
    if (each.name == "l2") {
      EXPECT_EQ(each.columns, std::vector<std::string>{"sm_bytes"});
      EXPECT_DOUBLE_EQ(each.ns, 10'000) << "what arrived at the SMs, as the rate has it, not what L2 served";
      EXPECT_EQ(each.rate_source, "nominal l2_gbps");
    }
    if (each.name == "hbm") {
      EXPECT_EQ(each.rate_source, "nominal hbm_gbps");
    }
    if (each.name == "smem") {
      EXPECT_TRUE(each.columns.empty()) << "from the schedule alone";
    }
  }
}

TEST(Resources, WhatL2ServedIsALowerBoundOfWhatArrived) {
  Row r = row();
  r.counters.sm_total.reset();
  r.counters.l2_read = 20'000'000;
  r.counters.l2_write = 4'000'000;
  const ResourceTable table = resource_times(r, rates(), unseen());
  const auto l2 = std::ranges::find(table.times, "l2", &ResourceTime::name);
  ASSERT_NE(l2, table.times.end());
  EXPECT_DOUBLE_EQ(l2->ns, 6'000);
  EXPECT_EQ(l2->columns, (std::vector<std::string>{"l2_read_bytes", "l2_write_bytes"}));
  EXPECT_EQ(l2->rate_source, "nominal l2_gbps, a lower bound: L2 merges requests");
}

TEST(Resources, SayWhichIsMissingBytesOrRate) {
  DeviceProfile unknown = device();
  unknown.l2_gbps = 0;
  Row r = row();
  r.counters.hbm_total.reset();
  const ResourceTable table = resource_times(r, rates_at(unknown, {}, Dtype::fp16, std::nullopt), unseen());
  ASSERT_EQ(table.missing.size(), 2u);
  EXPECT_EQ(table.missing[0].name + ": " + table.missing[0].why, "hbm: its bytes were not counted");
  EXPECT_EQ(table.missing[1].name + ": " + table.missing[1].why, "l2: the device's rate is not known");
}

TEST(Resources, SayWhatIsMissing) {
  Row r = row();
  r.counters = {};
  const ResourceTable table = resource_times(r, rates(), {});
  std::vector<std::string> missing;
  for (const MissingResource& each : table.missing) missing.push_back(each.name);
  EXPECT_EQ(missing, (std::vector<std::string>{"hbm", "l2", "smem"}));
  EXPECT_DOUBLE_EQ(ns_of(table, "tensor"), 10'000) << "useful FLOPs, as none were counted";
  EXPECT_EQ(binding_resource(table, 100'000), "") << "HBM might be what takes longest";
}

TEST(Resources, ReadsAndWritesHaveTheirOwnCeilings) {
  Row r = row();
  r.counters.hbm_read = 8'000'000;
  r.counters.hbm_write = 2'000'000;
  const Ceilings ceilings = {{"hbm_read_gbps", ceiling(800)}, {"hbm_write_gbps", ceiling(500)}};
  const Rates measured = rates_at(device(), ceilings, Dtype::fp16, std::nullopt);
  EXPECT_TRUE(measured.measured);
  EXPECT_FALSE(rates().measured);
  EXPECT_DOUBLE_EQ(ns_of(resource_times(r, measured, unseen()), "hbm"), 10'000 + 4'000);
}

TEST(Rates, HoppersTwoWaysToMultiply) {
  const DeviceProfile& h200 = *find_profile("h200");
  const Rates r = rates_at(h200, {}, Dtype::bf16, std::nullopt);
  EXPECT_DOUBLE_EQ(r.wgmma.value, 989);
  EXPECT_NEAR(r.mma.value, 636, 1) << "at the 1830 MHz that 989 is of";
  EXPECT_EQ(&r.tensor(ProductUnit::mma), &r.mma);
  EXPECT_EQ(&r.tensor(ProductUnit::library), &r.wgmma);
  const Rates fp8 = rates_at(h200, {}, Dtype::fp8, std::nullopt);
  EXPECT_GT(fp8.wgmma.value, 1900);
  const Rates a100 = rates_at(*find_profile("a100-sxm-80g"), {}, Dtype::bf16, std::nullopt);
  EXPECT_DOUBLE_EQ(a100.mma.value, 312);
  EXPECT_DOUBLE_EQ(a100.wgmma.value, 312) << "has one way only";
}

TEST(Rates, FollowTheRowsClock) {
  const DeviceProfile& h200 = *find_profile("h200");
  const Rates half = rates_at(h200, {}, Dtype::bf16, h200.tensor_clock_mhz / 2);
  EXPECT_DOUBLE_EQ(half.wgmma.value, 989.0 / 2);
  EXPECT_DOUBLE_EQ(half.hbm_read.value, h200.hbm_gbps) << "HBM has its own clock";
  Ceilings ceilings = {{"wgmma_bf16_tflops", ceiling(800, 1600)}};
  EXPECT_DOUBLE_EQ(rates_at(h200, ceilings, Dtype::bf16, 800).wgmma.value, 400);
  EXPECT_EQ(rates_at(h200, ceilings, Dtype::bf16, 800).wgmma.source, "ceiling wgmma_bf16_tflops");
}

TEST(Rates, AnUnknownDeviceHasNone) {
  const Rates none = rates_at(DeviceProfile{}, {}, Dtype::fp16, 1000);
  for (const Rate* rate :
       {&none.hbm_read, &none.l2, &none.smem, &none.fma, &none.mma, &none.exp, &none.launch_ns})
    EXPECT_FALSE(rate->known());
  EXPECT_TRUE(resource_times(row(), none, unseen()).times.empty());
}

}  // namespace
}  // namespace attnprof
