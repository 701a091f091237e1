#include "roofline/resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problem/problem.hpp"

namespace attnprof {
namespace {

class Table {
 public:
  Table(const Row& row, const Rates& rates, const Unseen& unseen, std::span<const Level> levels)
      : row_(row), rates_(rates), unseen_(unseen), levels_(levels) {}

  ResourceTable make() {
    for (const Level& level : levels_with_rate(levels_))
      if (level.concerns(row_)) memory(level);
    if (unseen_.smem_bytes)
      add("smem", *unseen_.smem_bytes, "bytes", rates_.smem, 1, {});
    else
      miss("smem", "the row has no count of it, and no schedule of ours says it");
    products();
    exponentials();
    if (unseen_.launches) launches();
    return std::move(table_);
  }

 private:
  // `scale`: of the rate's unit to amounts a ns.
  void add(const char* name, double amount, const char* unit, const Rate& rate, double scale,
           std::vector<std::string> columns) {
    if (!rate.known()) return miss(name, "the device's rate is not known");
    table_.times.push_back(
        {name, amount / (rate.value * scale), amount, unit, rate.source, std::move(columns)});
  }
  void miss(std::string_view name, const char* why) { table_.missing.push_back({std::string(name), why}); }

  // Reads and writes at a rate each, where those differ and the bytes are known by their direction.
  void memory(const Level& level) {
    const std::string_view name = level.bandwidth->name;
    const Rate &read = rates_.*level.bandwidth->read, &write = rates_.*level.bandwidth->write;
    const bool counted = level.bytes.count(row_).has_value();
    const LevelBytes& bytes = counted ? level.bytes : level.lower_bound;
    const Count total = bytes.count(row_);
    if (!total) return miss(name, "its bytes were not counted");
    if (!read.known() || !write.known()) return miss(name, "the device's rate is not known");
    ResourceTime time{std::string(name), as_double(total) / read.value,
                      as_double(total),  "bytes",
                      read.source,       bytes.columns()};
    if (read.value != write.value && by_direction(bytes)) {
      const Counters& counters = row_.counters;
      time.ns = as_double(counters.*bytes.read.value) / read.value +
                as_double(counters.*bytes.write.value) / write.value;
      time.rate_source += ", " + write.source;
      time.columns = {std::string(bytes.read.name), std::string(bytes.write.name)};
    }
    if (!counted) time.rate_source += fmt::format(", a lower bound: {}", level.why_lower);
    table_.times.push_back(std::move(time));
  }

  bool by_direction(const LevelBytes& bytes) const {
    return bytes.read && bytes.write && row_.counters.*bytes.read.value && row_.counters.*bytes.write.value;
  }

  // FLOPs the products' unit executes; what is masked or padded counts where it is known.
  void products() {
    const Model& model = row_.model;
    if (!uses_tensor_cores(row_)) {
      if (unseen_.fma_flops) return add("fma", *unseen_.fma_flops, "FLOPs", rates_.fma, 1e3, {});
      return add("fma", as_double(model.useful_flops), "FLOPs", rates_.fma, 1e3, {"useful_flops"});
    }
    const Rate& rate = rates_.tensor(unseen_.unit);
    if (as_double(row_.counters.executed_tensor_flops) > 0)
      return add("tensor", as_double(row_.counters.executed_tensor_flops), "FLOPs", rate, 1e3,
                 {"executed_tensor_flops"});
    if (as_double(model.tensor_flops) > 0)
      return add("tensor", as_double(model.tensor_flops), "FLOPs", rate, 1e3, {"model_tensor_flops"});
    add("tensor", as_double(model.useful_flops), "FLOPs", rate, 1e3, {"useful_flops"});
  }

  // By the schedule; else one an unmasked (query, key) pair.
  void exponentials() {
    if (unseen_.exponentials) return add("exp", *unseen_.exponentials, "exponentials", rates_.exp, 1, {});
    const double head_dim = as_double(row_.identity.count("head_dim"));
    const double pairs = head_dim > 0 ? as_double(row_.model.useful_flops) / (4 * head_dim) : 0;
    add("exp", pairs, "exponentials", rates_.exp, 1, {"useful_flops", "head_dim"});
  }

  void launches() {
    if (!row_.build.launches) return miss("launch", "the number of launches is not known");
    if (!rates_.launch_ns.known()) return miss("launch", "the device's rate is not known");
    const double count = as_double(row_.build.launches);
    table_.times.push_back(
        {"launch", count * rates_.launch_ns.value, count, "launches", rates_.launch_ns.source, {"launches"}});
  }

  const Row& row_;
  const Rates& rates_;
  const Unseen& unseen_;
  std::span<const Level> levels_;
  ResourceTable table_;
};

bool has(const ResourceTable& table, std::string_view name) {
  return std::ranges::find(table.times, name, &ResourceTime::name) != table.times.end();
}

bool is_missing(const ResourceTable& table, std::string_view name) {
  return std::ranges::find(table.missing, name, &MissingResource::name) != table.missing.end();
}

// Of a level that some cases alone have, a row may need no time and miss nothing.
bool is_settled(const ResourceTable& table, const Level& level) {
  const std::string_view name = level.bandwidth->name;
  return has(table, name) || !(level.everywhere || is_missing(table, name));
}

}  // namespace

ResourceTable resource_times(const Row& row, const Rates& rates, const Unseen& unseen,
                             std::span<const Level> levels) {
  return Table(row, rates, unseen, levels).make();
}

std::string binding_resource(const ResourceTable& table, double latency_ns, std::span<const Level> levels) {
  const auto settled = [&](const Level& level) { return is_settled(table, level); };
  const bool whole = std::ranges::all_of(levels_with_rate(levels), settled) && has(table, "exp") &&
                     (has(table, "tensor") || has(table, "fma"));
  if (!whole) return "";
  const auto& longest = *std::ranges::max_element(table.times, {}, &ResourceTime::ns);
  return longest.ns < bound_share * latency_ns ? "latency" : longest.name;
}

Dtype dtype_of(const Row& row) { return parse_dtype(row.identity.word("dtype")).value_or(Dtype::fp16); }

bool uses_tensor_cores(const Row& row) {
  const Count& flops =
      row.counters.executed_tensor_flops ? row.counters.executed_tensor_flops : row.model.tensor_flops;
  return flops ? *flops > 0 : row.identity.word("dtype") != to_string(Dtype::fp32);
}

}  // namespace attnprof
