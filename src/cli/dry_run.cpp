#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "base/standard_streams.hpp"
#include "base/text_table.hpp"
#include "base/units.hpp"
#include "cli/sweep.hpp"
#include "cli/text_output.hpp"
#include "measure/compile/compile_plan.hpp"
#include "measure/sim/phases.hpp"
#include "model/predict.hpp"
#include "problem/flops.hpp"
#include "problem/operands.hpp"

namespace attnprof {
namespace {

struct Ground {
  DeviceProfile device;
  int64_t free_bytes;
  bool simulated;
  std::string why;
};

// A named target needs no backend, whatever --backend says: a plan for a GPU can be seen without one.
Ground ground_of(const SweepOptions& options, const BackendOpener& open) {
  if (options.device.names_target()) {
    const DeviceProfile target = target_profile(options.device);
    return {target, target.hbm_bytes, options.device.backend != BackendChoice::gpu,
            fmt::format("plan for {}, all of its memory taken as free", target.name)};
  }
  const OpenBackend opened = open(options.device, options.measure);
  const BackendInfo& info = opened.backend->info();
  return {info.device, info.free_bytes, info.name == "sim", opened.why};
}

struct ModelledPlan {
  std::vector<Case> cases;
  std::vector<Model> models;  // of the cases; of skipped ones nothing
};

// Each case is predicted once.
ModelledPlan plan_of(const SweepOptions& options, const Ground& ground) {
  ModelledPlan plan{.cases = expand(options.axes, ground.device, ground.free_bytes), .models = {}};
  for (Case& c : plan.cases) {
    if (!c.skip && ground.simulated) c.skip = sim::why_not_simulated(c, ground.device, options.measure);
    plan.models.push_back(c.skip ? Model{} : predict(c, ground.device, sim::predict_limits(options.measure)));
  }
  return plan;
}

std::string bytes_or_nothing(const Count& bytes, bool people) {
  if (!bytes) return people ? "-" : "";
  return people ? human_bytes(static_cast<double>(*bytes)) : fmt::format("{}", *bytes);
}

std::vector<std::string> plan_line(const Case& c, const Model& model, const DeviceProfile& device,
                                   bool people) {
  std::vector<std::string> line = {describe(c)};
  const Count memory = c.skip ? Count{} : Count{device_bytes_needed(c, device)};
  for (const Count& bytes : {memory, model.sm_bytes, model.hbm_bytes})
    line.push_back(bytes_or_nothing(bytes, people));
  line.push_back(c.skip ? "skipped" : "run");
  if (people) return line;
  line.push_back(c.skip.value_or(c.tile_reason));
  for (const int64_t amount :
       {useful_flops(c.problem), half_square_flops(c.problem), io_lower_bound_bytes(c.problem)})
    line.push_back(fmt::format("{}", amount));
  return line;
}

std::vector<std::vector<std::string>> plan_lines(const ModelledPlan& plan, const DeviceProfile& device,
                                                 bool people) {
  std::vector<std::vector<std::string>> lines = {
      people
          ? std::vector<std::string>{"case", "memory", "SM bytes", "HBM bytes", "plan"}
          : std::vector<std::string>{"case", "memory_bytes", "model_sm_bytes", "model_hbm_bytes", "plan",
                                     "reason", "useful_flops", "half_square_flops", "io_lower_bound_bytes"}};
  for (size_t i = 0; i < plan.cases.size(); ++i)
    lines.push_back(plan_line(plan.cases[i], plan.models[i], device, people));
  return lines;
}

// "flash2.cu flash2 HEAD_DIM=64 TILE_BR=128 ...".
std::vector<std::string> kernel_texts(const std::vector<Case>& cases) {
  std::vector<std::string> all;
  for (const KernelLaunch& kernel : kernels_of(cases)) {
    all.push_back(kernel.file + " " + kernel.entry);
    for (const auto& [name, value] : kernel.macros) all.back() += fmt::format(" {}={}", name, value);
  }
  return all;
}

void print_counted(const std::string& title, const std::vector<std::string>& texts) {
  std::map<std::string_view, size_t> count;
  for (const std::string& text : texts) ++count[text];
  if (!texts.empty()) print(fmt::format("\n{}\n", title));
  for (const std::string& text : texts) {
    const size_t times = std::exchange(count[text], 0);  // in the order of their first ones
    if (times == 0) continue;
    print(wrap_text(times == 1 ? text : fmt::format("{} ({} cases)", text, times), terminal_width(), "  "));
  }
}

std::string tile_text(const Case& c) {
  if (c.tile.br == 0) return "no tile";
  const std::string tile = fmt::format("{}x{}", c.tile.br, c.tile.bc);
  return c.tile.knobs.empty() ? tile : tile + " " + to_string(c.tile.knobs);
}

void print_for_people(const ModelledPlan& plan, const DeviceProfile& device) {
  const std::vector<Case>& cases = plan.cases;
  print(format_lines(plan_lines(plan, device, true), Format::table));
  std::vector<std::string> skips, tiles;
  for (const Case& c : cases) {
    if (c.skip) skips.push_back(fmt::format("{}: {}", c.variant->name, *c.skip));
    if (!c.skip && !c.tile_reason.empty())
      tiles.push_back(
          fmt::format("{} d={} {}: {}", c.variant->name, c.problem.head_dim, tile_text(c), c.tile_reason));
  }
  const std::vector<std::string> to_compile = kernel_texts(cases);
  print_counted("Skipped", skips);
  print_counted("Default tiles", tiles);
  print_counted(fmt::format("Kernels to compile for {} on a GPU: {}", device.arch, to_compile.size()),
                to_compile);
  print(fmt::format("\n{} cases: {} to run, {} skipped. Nothing was run.\n", cases.size(),
                    cases.size() - skips.size(), skips.size()));
}

}  // namespace

ExitCode dry_run(const SweepOptions& options, const BackendOpener& open) {
  const Ground ground = ground_of(options, open);
  say(ground.why);
  const ModelledPlan plan = plan_of(options, ground);
  if (options.format == Format::table)
    print_for_people(plan, ground.device);
  else
    print(format_lines(plan_lines(plan, ground.device, false), options.format, {1, 2, 3, 6, 7, 8}));
  return ExitCode::ok;
}

}  // namespace attnprof
