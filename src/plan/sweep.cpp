#include "plan/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/saturating.hpp"
#include "plan/problem_axes.hpp"
#include "plan/skip.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

constexpr size_t most_cases = 100'000;
constexpr int64_t l2_multiple_to_evict = 4;  // reading 4 x L2 of clean data evicts everything else

// Everything counted of a problem (FLOPs, bytes of an fp32 S) must stay far inside 64 bits.
void refuse_overflow(const Problem& p) {
  const double counted = 16.0 * static_cast<double>(p.head_dim) * static_cast<double>(p.q_len) *
                         static_cast<double>(p.kv_len) * static_cast<double>(p.heads) *
                         static_cast<double>(p.batch);
  if (counted > static_cast<double>(std::numeric_limits<int64_t>::max()))
    throw UsageError(fmt::format(
        "batch {} x heads {} x q_len {} x kv_len {} x head_dim {} is absurdly large: its FLOPs do not fit "
        "64 bits; give smaller sizes",
        p.batch, p.heads, p.q_len, p.kv_len, p.head_dim));
}

std::vector<Problem> problems(const SweepAxes& axes) {
  std::vector<Problem> all = problems_of(axes);
  for (const Problem& problem : all) refuse_overflow(problem);
  return all;
}

std::vector<std::optional<int>> sides(const std::vector<int64_t>& values) {
  if (values.empty()) return {std::nullopt};
  std::vector<std::optional<int>> all;
  for (int64_t value : values) all.push_back(static_cast<int>(value));
  return all;
}

std::vector<TileRequest> tile_requests(const SweepAxes& axes) {
  std::vector<TileRequest> all;
  for (const auto& br : sides(axes.brs))
    for (const auto& bc : sides(axes.bcs)) all.push_back({.br = br, .bc = bc});
  return all;
}

// Counted before anything is built: a product of long axes would fill the host's memory first.
void refuse_too_many(const SweepAxes& axes, std::span<const Variant* const> swept) {
  double count = count_problems(axes) * static_cast<double>(axes.caches.size());
  for (const size_t sides : {axes.brs.size(), axes.bcs.size()})
    count *= static_cast<double>(std::max<size_t>(sides, 1));  // none given: the variant's default
  double variants = 0;
  for (const Variant* variant : swept) variants += knob_combinations(axes.knobs, *variant);
  count *= variants;
  if (count == 0) throw UsageError("the sweep has no case: an axis is empty");
  if (count > most_cases)
    throw UsageError(
        fmt::format("the sweep has more than {} cases; give shorter axes or several sweeps", most_cases));
}

const Variant& variant_named(const std::string& name) {
  if (const Variant* variant = find_variant(name)) return *variant;
  std::vector<std::string> known;
  for (const Variant* variant : all_variants()) known.emplace_back(variant->name);
  throw UsageError(fmt::format(
      "--variant '{}' is none of {}{}", name, fmt::join(known, ", "),
      did_you_mean(name, known, "one of your own comes with --variant-file FILE or --plugin FILE")));
}

std::vector<const Variant*> swept_variants(const SweepAxes& axes) {
  std::vector<const Variant*> variants;
  for (const std::string& name : axes.variants) variants.push_back(&variant_named(name));
  return variants;
}

// Br, Bc and the knobs asked for; what is not asked for is the variant's. The knobs of a default tile belong
// to it: another tile leaves them behind.
Tile tile_asked_for(const Case& c, const Tile& by_default) {
  Tile tile = by_default;
  tile.br = c.requested.br.value_or(tile.br), tile.bc = c.requested.bc.value_or(tile.bc);
  if (tile.br != by_default.br || tile.bc != by_default.bc) tile.knobs = {};
  for (const Knobs::Value& each : c.requested.knobs) tile.knobs.set(each.name, each.value);
  return tile;
}

}  // namespace

int64_t device_bytes_needed(const Case& c, const DeviceProfile& device) {
  return saturating_sum(total_bytes(c.operands), l2_multiple_to_evict * device.l2_bytes);
}

void resolve(Case& c, const DeviceProfile& device, int64_t free_bytes) {
  const TileChoice choice = c.variant->default_tile(c.problem, device);
  c.tile = tile_asked_for(c, choice.tile);
  c.tile_reason = c.requested.br || c.requested.bc ? "" : choice.reason;
  c.skip = unsupported_reason(c, device);
  if (!c.skip) {
    set_launches(c, device);
    c.skip = too_much_reason(c, device, free_bytes);
  }
  if (!c.skip && c.variant->knobs_used) c.tile.knobs = c.variant->knobs_used(c.problem, c.tile, device);
}

void check_axes(const SweepAxes& axes) {
  const std::vector<const Variant*> variants = swept_variants(axes);
  refuse_too_many(axes, variants);
  check_knobs(axes.knobs, variants);
  problems(axes);
}

std::vector<Case> expand(const SweepAxes& axes, const DeviceProfile& device, int64_t free_bytes) {
  const std::vector<const Variant*> variants = swept_variants(axes);
  refuse_too_many(axes, variants);
  check_knobs(axes.knobs, variants);
  const std::vector<Problem> all_problems = problems(axes);
  const std::vector<TileRequest> tiles = tile_requests(axes);
  std::vector<Case> cases;
  for (const Problem& problem : all_problems)
    for (CacheState cache : axes.caches)
      for (const Variant* variant : variants)
        for (const TileRequest& tile : tiles)
          for (const Knobs& knobs : knob_requests(axes.knobs, *variant)) {
            Case c;
            c.variant = variant, c.problem = problem, c.requested = tile, c.cache = cache;
            c.requested.knobs = knobs;
            resolve(c, device, free_bytes);
            cases.push_back(std::move(c));
          }
  return cases;
}

}  // namespace attnprof
