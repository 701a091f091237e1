#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "measure/backend_json.hpp"
#include "measure/comparable_facts.hpp"
#include "measure/sim/backend.hpp"
#include "measure/sim/phases.hpp"
#include "model/predict.hpp"

namespace attnprof {
namespace {

BackendInfo info_of(const DeviceProfile& device, InputKind input) {
  BackendInfo info;
  info.name = "sim";
  info.device = device;
  info.free_bytes = device.hbm_bytes;
  info.environment = {{"target", device.name},
                      {"target_title", device.title},
                      {"model_version", ATTNPROF_VERSION},
                      {"l2_model", device.l2_curve.empty() ? "assumed" : "calibrated"},
                      {"target_figures", content_hash(to_json(info).at("device").dump())}};
  info.comparable = names_of(simulated_facts);
  info.environment.emplace_back("input", to_string(input));
  // Rows of normal inputs have the env_id that they had before there were others.
  if (input != InputKind::normal) info.comparable.emplace_back("input");
  if (device.l2_curve.empty())
    info.notices.push_back(
        fmt::format("The L2 of {} is not calibrated: it is assumed to keep all of its {:.1f} MB.",
                    device.name, static_cast<double>(device.l2_bytes) / 1e6));
  return info;
}

class SimBackend : public Backend {
 public:
  SimBackend(const DeviceProfile& device, const MeasureOptions& options)
      : info_(info_of(device, options.input)), options_(options) {}

  const BackendInfo& info() const override { return info_; }

  Build prepare(const Case& c) override {
    case_ = c;
    return sim::prepare(c, info_, options_);
  }
  Verification verify() override { return sim::verify(case_, options_); }
  Latency time(Status&) override { return sim::time(prediction(), info_.device); }
  Counters count(Status&) override { return sim::count(prediction(), options_.counters); }

 private:
  Prediction prediction() const { return predict_steps(case_, info_.device, sim::predict_limits(options_)); }

  BackendInfo info_;
  MeasureOptions options_;
  Case case_;
};

}  // namespace

std::unique_ptr<Backend> make_sim_backend(const DeviceProfile& device, const MeasureOptions& options) {
  return std::make_unique<SimBackend>(device, options);
}

}  // namespace attnprof
