// What each resource of a device alone would need for a row: the one table behind the column `bound` and
// `attnprof explain`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/rates.hpp"
#include "roofline/levels.hpp"
#include "row/row.hpp"

namespace attnprof {

struct ResourceTime {
  std::string name;  // of a level's bandwidth; smem, tensor, fma, exp, launch
  double ns = 0;
  double amount = 0;
  std::string unit;                  // bytes, FLOPs, exponentials, launches
  std::string rate_source;           // of Rate
  std::vector<std::string> columns;  // that the amount is from; none: from the schedule alone
};

struct MissingResource {
  std::string name, why;  // "bytes were not counted"
};

// What a row's columns do not say. Absent: not known, and the resource is among `missing`.
struct Unseen {
  Real fma_flops = std::nullopt, exponentials = std::nullopt, smem_bytes = std::nullopt;
  ProductUnit unit = ProductUnit::library;  // how tensor cores are driven
  bool launches = true;                     // count them as a resource
};

struct ResourceTable {
  std::vector<ResourceTime> times;
  std::vector<MissingResource> missing;
};

// Of each level with a rate, and of the SMs' units and launches.
ResourceTable resource_times(const Row& row, const Rates& rates, const Unseen& unseen,
                             std::span<const Level> levels = memory_levels());

// Below this share of the measured time no resource can be what a case waits for.
inline constexpr double bound_share = 0.25;

// The resource that needs longest; "latency" where that is a small share of `latency_ns`. Empty where bytes
// or the product's unit are missing: what is left out might be what takes longest.
std::string binding_resource(const ResourceTable& table, double latency_ns,
                             std::span<const Level> levels = memory_levels());

// Of the row's operands; fp16 where the column says none that is known.
Dtype dtype_of(const Row& row);

// The unit that does the row's products: by the counter, else by the schedule; a library's 16-bit product is
// taken to use tensor cores.
bool uses_tensor_cores(const Row& row);

}  // namespace attnprof
