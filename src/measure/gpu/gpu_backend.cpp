#include "measure/gpu/gpu_backend.hpp"

#include <fmt/format.h>

#include <optional>

#include "measure/compile/compile_plan.hpp"
#include "measure/gpu/ceilings.hpp"
#include "measure/gpu/counters.hpp"
#include "measure/gpu/gpu_device.hpp"
#include "measure/gpu/prepare.hpp"
#include "measure/gpu/recount.hpp"
#include "measure/gpu/time.hpp"
#include "measure/gpu/verify.hpp"
#include "model/l2_transition.hpp"
#include "plan/seed.hpp"

namespace attnprof {
namespace {

class GpuBackend : public Backend {
 public:
  explicit GpuBackend(const MeasureOptions& options)
      : options_(options), compiler_(compile_options(options)), gpu_(options.device, compiler_) {
    describe();
    if (options.ceilings) find_ceilings();
    open_counters();
  }

  const BackendInfo& info() const override { return info_; }

  void announce(const std::vector<Case>& cases) override {
    ahead_.reset();
    ahead_.emplace(cases, gpu_.profile(), compiler_);
  }

  Build prepare(const Case& c) override {
    return guarded([&] {
      prepared_.reset();
      prepared_.emplace(c, InputSource{case_seed(c, options_.seed), options_.input}, gpu_, compiler_);
      return prepared_->build();
    });
  }

  // Between guard bands, which show what is read and written beside an operand. Where no output is looked at,
  // they would show little: the operation runs where it is timed.
  Verification verify() override {
    return guarded([&] {
      if (options_.verify == VerifyMode::off) return verify_output(*prepared_, gpu_, options_.verify);
      prepared_->enter_guards();
      const Verification verification = verify_output(*prepared_, gpu_, options_.verify);
      prepared_->leave_guards();
      return verification;
    });
  }

  Latency time(Status& status) override {
    return guarded([&] { return time_operation(*prepared_, gpu_, options_, status); });
  }

  Counters count(Status& status) override {
    if (!counters_) {
      Counters none;
      none.bytes_source = "none";
      return none;
    }
    const CountedWork work{.condition = [this] { condition_cache(*prepared_, gpu_); },
                           .run = [this] { prepared_->run(); },
                           .evict = [this] { gpu_.evict(); },
                           .dirty_before = prepared_->planned().cache == CacheState::warm,
                           .relocate = relocation()};
    return guarded([&] { return counters_->measure(work, prepared_->planned().problem.dtype, status); });
  }

 private:
  void describe() {
    info_.name = "gpu";
    info_.device = gpu_.profile();
    info_.free_bytes = gpu_.case_bytes();
    info_.environment = gpu_.environment(compiler_.toolchain());
    info_.environment.emplace_back("input", to_string(options_.input));
    info_.environment.emplace_back("seed", fmt::format("{}", options_.seed));
    info_.comparable = GpuDevice::comparable_facts();
    if (!compiler_.notice().empty()) info_.notices.push_back(compiler_.notice());
    if (!gpu_.has_builtin_profile())
      info_.notices.push_back(
          fmt::format("{} has no built-in profile: its tensor peaks are unknown and its L2 is "
                      "not calibrated, so columns that need them stay empty or assumed",
                      gpu_.profile().name));
    if (const auto others = gpu_.other_processes().value_or(0); others > 0)
      info_.notices.push_back(fmt::format("{} other process{} on this GPU: times may vary", others,
                                          others == 1 ? " is" : "es are"));
  }

  // Without them rows are held against nominal peaks.
  void find_ceilings() {
    MeasuredCeilings known = known_ceilings(gpu_, compiler_);
    info_.ceilings = std::move(known.ceilings);
    for (std::string& notice : known.notices) info_.notices.push_back(std::move(notice));
  }

  void open_counters() {
    if (options_.counters == CounterMode::off) return;
    try {
      counters_ = CounterSession::open(gpu_.context().get(), options_.device);
    } catch (const EnvironmentError& error) {
      if (options_.counters == CounterMode::on) throw;
      info_.notices.push_back(fmt::format("no hardware counters, bytes are empty: {}", error.what()));
    }
    if (counters_)
      info_.environment.emplace_back(
          "cupti", fmt::format("{}.{}", counters_->version() / 10000, counters_->version() % 10000 / 100));
  }

  // Nothing for cases whose HBM bytes need no second count.
  std::function<bool()> relocation() {
    if (!l2_in_transition(prepared_->planned(), gpu_.profile())) return {};
    return [this] { return prepared_->relocate(RecountLimits{}.most); };
  }

  // Every phase: a driver error is this case's failure, and said to be the end of this process's context when
  // it is.
  template <class Phase>
  auto guarded(Phase phase) -> decltype(phase()) {
    try {
      gpu_.context().make_current();
      return phase();
    } catch (const CudaError& error) {
      if (gpu_.context().alive()) throw CaseFailed(error.what());
      throw DeviceLost(error.what());
    } catch (const EnvironmentError& error) {  // cuBLAS missing, say: other variants still run
      throw CaseFailed(error.what());
    }
  }

  MeasureOptions options_;
  KernelCompiler compiler_;
  GpuDevice gpu_;
  BackendInfo info_;
  std::unique_ptr<CounterSession> counters_;
  std::optional<PreparedCase> prepared_;
  std::optional<CompileAhead> ahead_;
};

}  // namespace

std::unique_ptr<Backend> make_gpu_backend(const MeasureOptions& options) {
  driver();  // its sentences come before those of nvcc, cache and kernels
  require_device(options.device);
  try {
    return std::make_unique<GpuBackend>(options);
  } catch (const CudaError& error) {
    throw EnvironmentError(fmt::format("the GPU cannot be used: {}", error.what()));
  } catch (const CaseFailed& error) {  // the harness kernels do not compile
    throw EnvironmentError(error.what());
  }
}

}  // namespace attnprof
