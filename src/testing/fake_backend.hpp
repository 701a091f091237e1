// A backend for tests alone: fixed numbers, and a hook that can make any case skip, fail or stop the run.
#pragma once

#include <functional>

#include "run/open_backend.hpp"

namespace attnprof {

class FakeBackend : public Backend {
 public:
  FakeBackend() {
    info_.name = "gpu";
    info_.device.name = "Fake GPU, \"2 SMs\"";
    info_.device.arch = "sm_90a";
    info_.device.sms = 2;
    info_.device.smem_per_sm_bytes = info_.device.smem_per_block_bytes = 100'000;
    info_.device.hbm_bytes = info_.free_bytes = 1'000'000'000;
    info_.device.l2_bytes = 1'000'000;
    info_.device.l2_dirty_bytes = 500'000;
    info_.device.sm_clock_mhz = 1000;
    info_.device.hbm_gbps = 1000;
    info_.device.l2_gbps = 2000;
    info_.device.smem_gbps = 4000;
    info_.device.tensor_16bit_tflops = 100;
    info_.device.fp32_tflops = 10;
    info_.device.exp_gops = 1000;
    info_.device.launch_us = 2;
    info_.environment = {{"driver", "1.2"}, {"host", "somewhere"}};
    info_.comparable = {"driver"};
  }

  const BackendInfo& info() const override { return info_; }
  void announce(const std::vector<Case>& cases) override { announced = cases.size(); }
  Build prepare(const Case& c) override {
    case_ = c;
    ++prepared;
    if (on_prepare) on_prepare(c);
    Build build;
    build.launches = 1;
    build.kernel_hash = kernel + "-" + std::string(c.variant->name);
    return build;
  }
  Verification verify() override {
    if (wrong_variant == case_.variant->name)
      return {"no", 0.5, 1.0, "relative error 0.5 is above the fp16 tolerance 0.002"};
    return {"yes", 1e-4, 2e-4};
  }
  Latency time(Status& status) override {
    Latency latency;
    latency.latency_source = "model";
    latency.median_ns = 12'500.0 * static_cast<double>(case_.problem.q_len) / 512;
    if (on_time) on_time(latency, status);
    return latency;
  }
  Counters count(Status&) override {
    Counters counters;
    counters.bytes_source = "none";
    return counters;
  }

  std::function<void(const Case&)> on_prepare;
  std::function<void(Latency&, Status&)> on_time;
  std::string kernel = "k1";
  std::string wrong_variant;
  size_t announced = 0, prepared = 0;

  BackendInfo info_;

 private:
  Case case_;
};

// Opens `backend` on every call; changes made through `setup` apply to each.
inline std::function<OpenBackend(const DeviceChoice&, const MeasureOptions&)> opener(
    std::function<void(FakeBackend&)> setup = {}) {
  return [setup = std::move(setup)](const DeviceChoice&, const MeasureOptions&) {
    auto backend = std::make_unique<FakeBackend>();
    if (setup) setup(*backend);
    return OpenBackend{std::move(backend), "backend fake"};
  };
}

}  // namespace attnprof
