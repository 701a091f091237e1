#include "explain/row_model.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "plan/sweep.hpp"
#include "roofline/roofs.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

// "stages=2;warp_rows=32"; "-" and "" are none. Nothing when the variant has no such knob.
std::optional<Knobs> parse_knobs(const std::string& text, const Variant& variant) {
  Knobs knobs;
  for (size_t at = 0; at < text.size() && text != "-";) {
    const size_t end = std::min(text.find(';', at), text.size()), equals = text.find('=', at);
    if (equals >= end) return std::nullopt;
    const Knob* knob = find_knob(variant, std::string_view(text).substr(at, equals - at));
    int value = 0;
    const char* last = text.data() + end;
    const auto parsed = std::from_chars(text.data() + equals + 1, last, value);
    if (!knob || parsed.ec != std::errc() || parsed.ptr != last || !knob->takes(value)) return std::nullopt;
    knobs.set(knob->name, value);
    at = end + 1;
  }
  return knobs;
}

constexpr int64_t any_memory = std::numeric_limits<int64_t>::max();

MemoryShares shares_of(const Row& row) {
  MemoryShares shares;
  const Counters& c = row.counters;
  const auto share = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (c.sm_total.value_or(0) > 0) {
    shares.sm_bytes = static_cast<double>(*c.sm_total);
    if (c.l2_read && c.l2_write) shares.l2 = share(*c.l2_read + *c.l2_write, *c.sm_total);
    if (c.hbm_total) shares.hbm = share(*c.hbm_total, *c.sm_total);
  } else if (row.model.sm_bytes.value_or(0) > 0 && row.model.hbm_bytes) {
    shares.hbm = share(*row.model.hbm_bytes, *row.model.sm_bytes);
  }
  return shares;
}

}  // namespace

std::optional<Case> case_of_row(const Row& row, const DeviceProfile& device) {
  Case c;
  c.variant = find_variant(row.identity.variant);
  const auto problem = problem_of(row.identity.problem);
  if (!c.variant || !problem) return std::nullopt;
  c.problem = *problem;
  c.cache = parse_cache_state(row.identity.cache).value_or(CacheState::cold);
  const auto asked = parse_knobs(row.identity.knobs, *c.variant);
  const auto used = parse_knobs(row.resolved.knobs_used, *c.variant);
  if (!asked || !used) return std::nullopt;
  if (row.resolved.br && row.resolved.bc) {
    c.requested.br = static_cast<int>(*row.resolved.br);
    c.requested.bc = static_cast<int>(*row.resolved.bc);
  }
  c.requested.knobs = used->empty() ? *asked : *used;
  resolve(c, device, any_memory);
  c.requested.knobs = *asked;
  return c.skip ? std::nullopt : std::optional(c);
}

Unseen RowModel::unseen() const {
  Unseen unseen;
  if (!time) return unseen;
  const ScheduleAmounts& amounts = time->amounts;
  unseen.exponentials = amounts.exponentials;
  unseen.unit = amounts.unit;
  if (!amounts.exact) return unseen;
  unseen.smem_bytes = amounts.smem_bytes;
  unseen.fma_flops = amounts.fma_flops;
  return unseen;
}

RowModel model_row(const Row& row, const DeviceProfile& device, const Ceilings& ceilings) {
  RowModel model;
  model.row = &row;
  model.device = device;
  if (row.latency.sm_clock_mhz.value_or(0) > 0) model.device.sm_clock_mhz = *row.latency.sm_clock_mhz;
  const Dtype dtype = dtype_of(row);
  model.rates = rates_at(device, ceilings, dtype, row.latency.sm_clock_mhz);
  // Not what the run recorded: figures of a device may be corrected, and the model goes with them.
  const DeviceProfile known = device_of_run(row.provenance.device, {}).profile;
  model.nominal = rates_at(known.sms > 0 ? known : device, {}, dtype, row.latency.sm_clock_mhz);
  model.shares = shares_of(row);
  model.c = case_of_row(row, device);
  if (!model.c) return model;
  model.time = model_time(*model.c, model.device, model.nominal, model.shares);
  model.c->operands = {}, model.c->steps.clear();  // a file has up to a million rows
  return model;
}

std::optional<double> predict_tile_ns(const RowModel& of, int br, int bc) {
  if (!of.time || of.time->ns() <= 0) return std::nullopt;
  Case c = *of.c;
  c.requested.br = br, c.requested.bc = bc;
  resolve(c, of.device, any_memory);
  if (c.skip) return std::nullopt;
  const auto time = model_time(c, of.device, of.nominal, of.shares);
  if (!time) return std::nullopt;
  return of.latency_ns() * time->ns() / of.time->ns();
}

}  // namespace attnprof
