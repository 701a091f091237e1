#include "trace/launch_record.hpp"

#include <nlohmann/json.hpp>

#include "base/json_names.hpp"

namespace attnprof {
namespace {

struct ToJson {
  Json operator()(const ProcessRecord& process) const {
    return {{"process", {{"pid", process.pid}, {"program", process.program}}}};
  }
  Json operator()(const DeviceRecord& device) const {
    const GpuFacts& facts = device.facts;
    return {{"device",
             {{"index", device.index},
              {"bus_id", device.bus_id},
              {"cuda_driver", device.cuda_driver},
              {"cupti", device.cupti},
              {"name", facts.name},
              {"major", facts.major},
              {"minor", facts.minor},
              {"sms", facts.sms},
              {"smem_per_sm_bytes", facts.smem_per_sm_bytes},
              {"smem_per_block_bytes", facts.smem_per_block_bytes},
              {"registers_per_sm", facts.registers_per_sm},
              {"max_threads_per_sm", facts.max_threads_per_sm},
              {"max_ctas_per_sm", facts.max_ctas_per_sm},
              {"sm_clock_mhz", facts.sm_clock_mhz},
              {"memory_clock_mhz", facts.memory_clock_mhz},
              {"memory_bus_bits", facts.memory_bus_bits},
              {"memory_bytes", facts.memory_bytes},
              {"l2_bytes", facts.l2_bytes}}}};
  }
  Json operator()(const LaunchRecord& launch) const {
    const LaunchShape& shape = launch.shape;
    return {{"launch",
             {{"kernel", launch.kernel},
              {"range", launch.range},
              {"graph_kernels", launch.graph_kernels},
              {"device", launch.device},
              {"grid", shape.grid},
              {"block", shape.block},
              {"cluster", shape.cluster},
              {"dynamic_smem", shape.dynamic_smem},
              {"static_smem", shape.static_smem},
              {"registers", shape.registers},
              {"local", shape.local},
              {"counts", launch.counts}}}};
  }
  Json operator()(const KernelSeen& seen) const {
    return {{"seen", {{"kernel", seen.kernel}, {"launches", seen.launches}}}};
  }
  Json operator()(const TraceFailure& failure) const { return {{"failure", failure.sentence}}; }
};

DeviceRecord device_of(const Json& json) {
  DeviceRecord device{.index = json.at("index"),
                      .facts = {.name = json.at("name")},
                      .bus_id = json.at("bus_id"),
                      .cuda_driver = json.at("cuda_driver"),
                      .cupti = json.at("cupti")};
  GpuFacts& facts = device.facts;
  json.at("major").get_to(facts.major);
  json.at("minor").get_to(facts.minor);
  json.at("sms").get_to(facts.sms);
  json.at("smem_per_sm_bytes").get_to(facts.smem_per_sm_bytes);
  json.at("smem_per_block_bytes").get_to(facts.smem_per_block_bytes);
  json.at("registers_per_sm").get_to(facts.registers_per_sm);
  json.at("max_threads_per_sm").get_to(facts.max_threads_per_sm);
  json.at("max_ctas_per_sm").get_to(facts.max_ctas_per_sm);
  json.at("sm_clock_mhz").get_to(facts.sm_clock_mhz);
  json.at("memory_clock_mhz").get_to(facts.memory_clock_mhz);
  json.at("memory_bus_bits").get_to(facts.memory_bus_bits);
  json.at("memory_bytes").get_to(facts.memory_bytes);
  json.at("l2_bytes").get_to(facts.l2_bytes);
  return device;
}

LaunchRecord launch_of(const Json& json) {
  LaunchRecord launch;
  json.at("kernel").get_to(launch.kernel);
  json.at("range").get_to(launch.range);
  json.at("graph_kernels").get_to(launch.graph_kernels);
  json.at("device").get_to(launch.device);
  json.at("grid").get_to(launch.shape.grid);
  json.at("block").get_to(launch.shape.block);
  json.at("cluster").get_to(launch.shape.cluster);
  json.at("dynamic_smem").get_to(launch.shape.dynamic_smem);
  json.at("static_smem").get_to(launch.shape.static_smem);
  json.at("registers").get_to(launch.shape.registers);
  json.at("local").get_to(launch.shape.local);
  for (const auto& [name, value] : json.at("counts").items()) launch.counts[name] = value.get<double>();
  return launch;
}

std::optional<TraceLine> record_of(const Json& json) {
  if (json.contains("launch")) return launch_of(json["launch"]);
  if (json.contains("device")) return device_of(json["device"]);
  if (json.contains("failure")) return TraceFailure{json["failure"].get<std::string>()};
  if (json.contains("process"))
    return ProcessRecord{json["process"].at("pid"), json["process"].at("program")};
  if (json.contains("seen")) return KernelSeen{json["seen"].at("kernel"), json["seen"].at("launches")};
  return std::nullopt;
}

}  // namespace

std::string to_line(const TraceLine& record) {
  return std::visit(ToJson{}, record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<TraceLine> parse_line(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  try {
    return record_of(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace attnprof
