#include "measure/backend_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/error.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

using nlohmann::json;

// Calls visit(name, field) for every field. The structured bindings stop compiling when a field is added, so
// none can be forgotten here.
template <class Options, class Visit>
void each_option(Options& options, Visit visit) {
  auto& [verify, counters, ceilings, precision, max_time_s, case_timeout_s, seed, input, device, kernels_dir,
         cache_dir] = options;
  visit("verify", verify);
  visit("counters", counters);
  visit("ceilings", ceilings);
  visit("precision", precision);
  visit("max_time_s", max_time_s);
  visit("case_timeout_s", case_timeout_s);
  visit("seed", seed);
  visit("input", input);
  visit("device", device);
  visit("kernels_dir", kernels_dir);
  visit("cache_dir", cache_dir);
}

template <class Profile, class Visit>
void each_figure(Profile& profile, Visit visit) {
  auto& [name, title, arch, sms, smem_per_sm, smem_per_block, registers, threads, ctas, clock, hbm_bytes,
         l2_bytes, l2_curve, l2_dirty, shared_room, hbm_gbps, l2_gbps, smem_gbps, tensor, tensor_fp8,
         tensor_clock, fp32, exp, launch_us] = profile;
  visit("name", name);
  visit("title", title);
  visit("arch", arch);
  visit("sms", sms);
  visit("smem_per_sm_bytes", smem_per_sm);
  visit("smem_per_block_bytes", smem_per_block);
  visit("registers_per_sm", registers);
  visit("max_threads_per_sm", threads);
  visit("max_ctas_per_sm", ctas);
  visit("sm_clock_mhz", clock);
  visit("hbm_bytes", hbm_bytes);
  visit("l2_bytes", l2_bytes);
  visit("l2_curve", l2_curve);
  visit("l2_dirty_bytes", l2_dirty);
  visit("l2_shared_room", shared_room);
  visit("hbm_gbps", hbm_gbps);
  visit("l2_gbps", l2_gbps);
  visit("smem_gbps", smem_gbps);
  visit("tensor_16bit_tflops", tensor);
  visit("tensor_fp8_tflops", tensor_fp8);
  visit("tensor_clock_mhz", tensor_clock);
  visit("fp32_tflops", fp32);
  visit("exp_gops", exp);
  visit("launch_us", launch_us);
}

template <class Info, class Visit>
void each_fact(Info& info, Visit visit) {
  auto& [name, device, ceilings, free_bytes, environment, comparable, notices] = info;
  visit("name", name);
  visit("device", device);
  visit("ceilings", ceilings);
  visit("free_bytes", free_bytes);
  visit("environment", environment);
  visit("comparable", comparable);
  visit("notices", notices);
}

struct Writer {
  json out = json::object();

  template <class Value>
  void operator()(const char* name, const Value& value) {
    if constexpr (std::is_same_v<Value, DeviceProfile>) {
      Writer inner;
      each_figure(value, std::ref(inner));
      out[name] = inner.out;
    } else if constexpr (std::is_same_v<Value, Ceilings>) {
      out[name] = ceilings_json(value);
    } else if constexpr (std::is_enum_v<Value>) {
      out[name] = static_cast<int>(value);
    } else if constexpr (std::is_same_v<Value, std::vector<L2Point>>) {
      out[name] = json::array();
      for (const L2Point& point : value) out[name].push_back({point.mebibytes, point.miss_share});
    } else {
      out[name] = value;
    }
  }
};

struct Reader {
  const json& in;

  template <class Value>
  void operator()(const char* name, Value& value) {
    const json& from = in.at(name);
    if constexpr (std::is_same_v<Value, DeviceProfile>) {
      each_figure(value, Reader{from});
    } else if constexpr (std::is_same_v<Value, Ceilings>) {
      value = parse_ceilings(from);
    } else if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(from.get<int>());
    } else if constexpr (std::is_same_v<Value, std::vector<L2Point>>) {
      for (const json& point : from) value.push_back({point.at(0), point.at(1)});
    } else {
      from.get_to(value);
    }
  }
};

// JSON's own errors become ours, which say what was being read.
template <class Read>
auto reading(const char* what, Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw UsageError(fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace

json to_json(const MeasureOptions& options) {
  Writer writer;
  each_option(options, std::ref(writer));
  return writer.out;
}

json to_json(const BackendInfo& info) {
  Writer writer;
  each_fact(info, std::ref(writer));
  return writer.out;
}

json cells_to_json(const Row& row) {
  json cells = json::object();
  for (const Column& column : schema())
    if (std::string text = cell(column, row); !text.empty())
      cells[std::string(column.name)] = std::move(text);
  return cells;
}

MeasureOptions options_from_json(const json& j) {
  return reading("measuring options", [&] {
    MeasureOptions options;
    each_option(options, Reader{j});
    return options;
  });
}

BackendInfo info_from_json(const json& j) {
  return reading("backend information", [&] {
    BackendInfo info;
    each_fact(info, Reader{j});
    return info;
  });
}

Row cells_from_json(const json& j) {
  return reading("row", [&] {
    Row row;
    for (const auto& [name, text] : j.items()) {
      const Column* column = find_column(name);
      if (!column) throw UsageError(fmt::format("row: no column is named '{}'", name));
      set_cell(*column, row, text.get<std::string>());
    }
    return row;
  });
}

}  // namespace attnprof
