// A worker for tests whose backend misbehaves on command: a case's tile_reason "what@phase" says what to do
// where.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "base/overloaded.hpp"
#include "measure/worker.hpp"
#include "row/schema.hpp"
#include "testing/hosted_plugin.hpp"

namespace attnprof {
namespace {

[[noreturn]] void crash() {
  signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn it into an exit code
  raise(SIGSEGV);
  std::abort();
}

void misbehave(const std::string& what) {
  if (what == "crash") crash();
  if (what == "complain_and_crash") {
    std::fputs("something is wrong\nthe device is on fire\n", stderr);
    crash();
  }
  if (what == "hang")
    while (true) pause();
  if (what == "exit") _exit(7);
  if (what == "print") {
    std::puts("{\"ok\": \"this is not an answer\"}");
    std::fputs("a warning\n", stderr);
  }
  if (what == "garbage" && write(reply_fd, "%!\n", 3) != 3) _exit(8);
  if (what == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (what == "skip") throw CaseSkipped("needs 3 bytes, 2 are free");
  if (what == "fail") throw CaseFailed("CUDA error 700: illegal address");
  if (what == "environment") throw EnvironmentError("the GPU has gone");
  if (what == "unexpected") throw std::runtime_error("nobody expected this");
}

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(const MeasureOptions& options) {
    info_.name = "fake";
    info_.device.name = "fake device";
    info_.device.l2_curve = {{24, 0}, {60, 1}};
    info_.environment = {{"seed", std::to_string(options.seed)}};
    info_.notices = {"no counters here"};
  }
  const BackendInfo& info() const override { return info_; }
  Build prepare(const Case& c) override {
    order_ = c.tile_reason;
    act("prepare");
    hosted_.reset();
    if (const PluginLibrary* library = plugin_of(c)) hosted_.emplace(c, *library);
    Build build;
    build.ctas = getpid();  // so that tests can tell workers apart
    build.kernel_hash = "abc";
    return build;
  }
  Verification verify() override {
    act("verify");
    if (hosted_) return hosted_->verify();
    Verification verification;
    verification.verified = "yes";
    verification.rel_err = 0.001;
    return verification;
  }
  Latency time(Status& status) override {
    act("time");
    add_flag(status, Flag::drift);
    Latency latency;
    latency.latency_source = "model";
    latency.median_ns = 1234.5;
    return latency;
  }
  Counters count(Status& status) override {
    act("count");
    add_flag(status, Flag::gpu_shared);
    Counters counters;
    counters.bytes_source = "sim";
    counters.hbm_read = 42;
    counters.executed_tensor_flops = 1 << 20;
    counters.sm_cycles = 99;
    return counters;
  }

 private:
  void act(const std::string& phase) const {
    if (const size_t at = order_.find('@'); at != std::string::npos && order_.substr(at + 1) == phase)
      misbehave(order_.substr(0, at));
  }
  const PluginLibrary* plugin_of(const Case& c) const {
    if (c.variant->origin.empty()) return nullptr;
    using Library = const PluginLibrary*;
    return std::visit(overloaded{[](const KernelLaunch&) -> Library { return nullptr; },
                                 [](const GemmLaunch&) -> Library { return nullptr; },
                                 [](const MemsetLaunch&) -> Library { return nullptr; },
                                 [](const PluginLaunch& plugin) -> Library { return plugin.library; }},
                      c.steps.front().launch);
  }

  BackendInfo info_;
  std::string order_;
  std::optional<HostedPlugin> hosted_;
};

std::unique_ptr<Backend> open_fake(const MeasureOptions& options) {
  if (options.kernels_dir == "no environment") throw EnvironmentError("there is no GPU here");
  if (options.kernels_dir == "crash") misbehave("complain_and_crash");
  return std::make_unique<FakeBackend>(options);
}

}  // namespace
}  // namespace attnprof

int main() { return attnprof::serve_worker(attnprof::open_fake); }
