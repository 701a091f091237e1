#include "plugin/variant_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plugin/variant_description.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

constexpr int64_t most_head_dim = 1024;  // as far as the reference it is verified against goes

std::vector<Operand> workspace_of(const VariantDescription& variant, const Problem& p, const Tile& tile) {
  constexpr int64_t most = int64_t{1} << 40;
  const std::vector<RuleValue> values = rule_values(p, tile, 0);
  std::vector<Operand> all;
  for (const OperandDescription& each : variant.workspace) {
    const int64_t cols = each.cols.value(values, 1, most);
    all.push_back({.name = each.name,
                   .role = Role::workspace,
                   .init = each.init,
                   .dtype = each.dtype,
                   .batch = each.batch.value(values, 1, most),
                   .heads = each.heads.value(values, 1, most),
                   .rows = each.rows.value(values, 1, most),
                   .cols = cols,
                   .row_pitch = cols});
    const Operand& o = all.back();
    int64_t bytes = bytes_per_element(o.dtype);
    for (const int64_t side : {o.batch, o.heads, o.rows, o.cols})
      if (__builtin_mul_overflow(bytes, side, &bytes) || bytes > int64_t{1} << 50)
        throw RuleError(fmt::format("workspace {} of {} x {} x {} x {} elements is absurdly large", each.name,
                                    o.batch, o.heads, o.rows, o.cols));
  }
  return all;
}

KernelLaunch launch_of(const StepDescription& step, const Problem& p, const Tile& tile,
                       const DeviceProfile& device) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  const std::vector<RuleValue> values = rule_values(p, tile, device.sms);
  KernelLaunch kernel;
  kernel.file = step.file, kernel.entry = step.entry;
  kernel.macros = kernel_macros(p, tile.br, tile.bc);
  for (const MacroText& macro : step.macros) kernel.macros.emplace_back(macro.name, macro.text(values));
  kernel.grid = {step.grid[0].value(values, 1, int64_t{1} << 40),
                 step.grid[1].value(values, 1, int64_t{1} << 40),
                 step.grid[2].value(values, 1, int64_t{1} << 40)};
  kernel.threads = static_cast<int>(step.threads.value(values, 1, most));
  kernel.smem_bytes = step.smem.value(values, 0, most);
  return kernel;
}

std::vector<Step> steps_of(const VariantDescription& variant, const Problem& p, const Tile& tile,
                           const DeviceProfile& device) {
  std::vector<Step> steps;
  for (const StepDescription& step : variant.steps)
    steps.push_back({step.name, launch_of(step, p, tile, device), Schedule{}, step.timed});
  return steps;
}

std::optional<std::string> why_unsupported(const VariantDescription& variant, const Problem& p,
                                           const Tile& tile, const DeviceProfile& device) {
  const bool has_tile = variant.tile.tile.br > 0;
  if (!has_tile && tile != Tile{}) return fmt::format("{} takes no tile: its file has none", variant.name);
  if (has_tile && (tile.br < 1 || tile.bc < 1))
    return fmt::format("{} takes tiles of at least 1x1, not {}x{}", variant.name, tile.br, tile.bc);
  if (p.head_dim > most_head_dim)
    return fmt::format("{} cannot be verified above head_dim = {}, and {} is asked for", variant.name,
                       most_head_dim, p.head_dim);
  if (auto reason = variant.supports.reason(variant.name, p, tile, device)) return reason;
  try {
    workspace_of(variant, p, tile);
    steps_of(variant, p, tile, device);
  } catch (const RuleError& error) {
    return fmt::format("{}: {}", variant.name, error.what());
  }
  return std::nullopt;
}

}  // namespace

bool is_variant_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= longest_variant_name && small(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return small(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

Variant load_variant_file(const std::string& file) { return variant_of(read_variant_description(file)); }

Variant variant_of(const std::shared_ptr<const VariantDescription>& v) {
  Variant variant;
  variant.name = v->name, variant.idea = v->idea, variant.needs = v->needs;
  variant.origin = v->origin, variant.fingerprint = v->fingerprint;
  variant.tile_step = 1;
  variant.passes = v->supports.passes();
  variant.later_fields = v->supports.later_fields();
  variant.unsupported = [v](const Problem& p, const Tile& tile, const DeviceProfile& device) {
    return why_unsupported(*v, p, tile, device);
  };
  variant.default_tile = [v](const Problem&, const DeviceProfile&) { return v->tile; };
  variant.workspace = [v](const Problem& p, const Tile& tile) { return workspace_of(*v, p, tile); };
  variant.steps = [v](const Problem& p, const Tile& tile, const DeviceProfile& device) {
    return steps_of(*v, p, tile, device);
  };
  if (!v->supports.tiles().empty())
    variant.candidates = [v](const Problem&, const DeviceProfile&) { return v->supports.tiles(); };
  return variant;
}

}  // namespace attnprof
