#include "roofline/resources.hpp"

#include <algorithm>

#include "problem/problem.hpp"

namespace attnprof {
namespace {

class Table {
 public:
  Table(const Row& row, const Rates& rates, const Unseen& unseen)
      : row_(row), rates_(rates), unseen_(unseen) {}

  ResourceTable make() {
    hbm();
    l2();
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
  void miss(const char* name, const char* why) { table_.missing.push_back({name, why}); }

  void hbm() {
    const Counters& c = row_.counters;
    if (!c.hbm_total) return miss("hbm", "its bytes were not counted");
    if (!rates_.hbm_read.known() || !rates_.hbm_write.known())
      return miss("hbm", "the device's rate is not known");
    const bool same = rates_.hbm_read.value == rates_.hbm_write.value;
    const double total = as_double(c.hbm_total);
    if (same || !c.hbm_read || !c.hbm_write)
      return add("hbm", total, "bytes", rates_.hbm_read, 1, {"hbm_bytes"});
    const double ns =
        as_double(c.hbm_read) / rates_.hbm_read.value + as_double(c.hbm_write) / rates_.hbm_write.value;
    table_.times.push_back({"hbm",
                            ns,
                            total,
                            "bytes",
                            rates_.hbm_read.source + ", " + rates_.hbm_write.source,
                            {"hbm_read_bytes", "hbm_write_bytes"}});
  }

  // The rate is of bytes as they arrive at the SMs, so the bytes are the SMs'. What L2 serves is less, as it
  // merges equal requests (by 17 % in the ceiling's own kernel): where that alone was counted, it is a lower
  // bound.
  void l2() {
    const Counters& c = row_.counters;
    if (c.sm_total) return add("l2", as_double(c.sm_total), "bytes", rates_.l2, 1, {"sm_bytes"});
    if (!c.l2_read || !c.l2_write) return miss("l2", "its bytes were not counted");
    Rate rate = rates_.l2;
    rate.source += ", a lower bound: L2 merges requests";
    add("l2", as_double(c.l2_read) + as_double(c.l2_write), "bytes", rate, 1,
        {"l2_read_bytes", "l2_write_bytes"});
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
  ResourceTable table_;
};

bool has(const ResourceTable& table, std::string_view name) {
  return std::ranges::find(table.times, name, &ResourceTime::name) != table.times.end();
}

}  // namespace

ResourceTable resource_times(const Row& row, const Rates& rates, const Unseen& unseen) {
  return Table(row, rates, unseen).make();
}

std::string binding_resource(const ResourceTable& table, double latency_ns) {
  const bool whole = has(table, "hbm") && has(table, "l2") && has(table, "exp") &&
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
