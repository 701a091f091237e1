// Device profiles from JSON files, for --target-file.
#include "device/profile_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/json_names.hpp"
#include "device/architectures.hpp"
#include "device/device_profiles.hpp"

namespace attnprof {
namespace {

// Takes keys out of one object and complains about each with the file's name.
class ProfileReader {
 public:
  ProfileReader(const std::string& file, const Json& object) : file_(file), object_(object) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("target file {}: {}", file_, what));
  }

  std::string text(const char* key) {
    const Json& value = required(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      refuse(fmt::format("key '{}' must be a non-empty string, not {}", key, value.dump()));
    return value.get<std::string>();
  }

  double real(const char* key, double low, double high) {
    const Json& value = required(key);
    if (!value.is_number()) refuse(fmt::format("key '{}' must be a number, not {}", key, value.dump()));
    const double number = value.get<double>();
    if (!(number >= low && number <= high))
      refuse(fmt::format("key '{}' is {}, outside what a GPU can be: {:g} to {:g}", key, value.dump(), low,
                         high));
    return number;
  }

  int64_t integer(const char* key, double low, double high) {
    const double number = real(key, low, high);
    if (number != std::floor(number))
      refuse(fmt::format("key '{}' must be a whole number, not {}", key, object_.at(key).dump()));
    return static_cast<int64_t>(number);
  }

  const Json* optional(const char* key) {
    known_.insert(key);
    return object_.contains(key) ? &object_.at(key) : nullptr;
  }

  void refuse_unknown_keys() const {
    for (const auto& [key, value] : object_.items())
      if (!known_.contains(key))
        refuse(fmt::format("key '{}' is unknown; keys are: {}", key, fmt::join(known_, ", ")));
  }

 private:
  const Json& required(const char* key) {
    known_.insert(key);
    if (!object_.contains(key)) refuse(fmt::format("key '{}' is missing", key));
    return object_.at(key);
  }

  const std::string& file_;
  const Json& object_;
  std::set<std::string> known_;
};

bool is_curve_point(const Json& point) {
  return point.is_array() && point.size() == 2 && point[0].is_number() && point[1].is_number();
}

std::vector<L2Point> l2_curve(ProfileReader& reader) {
  std::vector<L2Point> curve;
  const Json* points = reader.optional("l2_curve");
  if (!points) return curve;
  const char* expected =
      "key 'l2_curve' must be a list of [MiB, miss share] pairs, both ascending, shares 0 to 1";
  if (!points->is_array()) reader.refuse(expected);
  for (const Json& point : *points) {
    if (!is_curve_point(point)) reader.refuse(fmt::format("{}; {} is not", expected, point.dump()));
    const L2Point next{point[0].get<double>(), point[1].get<double>()};
    const L2Point last = curve.empty() ? L2Point{0, 0} : curve.back();
    if (!(next.mebibytes > last.mebibytes && next.mebibytes < 1e6 && next.miss_share >= last.miss_share &&
          next.miss_share <= 1))
      reader.refuse(fmt::format("{}; {} does not fit", expected, point.dump()));
    curve.push_back(next);
  }
  return curve;
}

std::string architecture(ProfileReader& reader) {
  const std::string arch = reader.text("arch");
  if (!profile_of_architecture(arch))
    reader.refuse(fmt::format("key 'arch' is '{}', none of {}", arch, known_architectures()));
  return arch;
}

void read_sm(ProfileReader& reader, DeviceProfile& device) {
  device.sms = static_cast<int>(reader.integer("sms", 1, 10'000));
  device.smem_per_sm_bytes = reader.integer("smem_per_sm_bytes", 1024, 64e6);
  device.smem_per_block_bytes =
      reader.integer("smem_per_block_bytes", 1024, static_cast<double>(device.smem_per_sm_bytes));
  device.registers_per_sm = static_cast<int>(reader.integer("registers_per_sm", 1024, 16e6));
  device.max_threads_per_sm = static_cast<int>(reader.integer("max_threads_per_sm", 32, 65'536));
  device.max_ctas_per_sm = static_cast<int>(reader.integer("max_ctas_per_sm", 1, 1024));
  device.sm_clock_mhz = reader.real("sm_clock_mhz", 1, 100'000);
}

void read_memory(ProfileReader& reader, DeviceProfile& device) {
  device.hbm_bytes = reader.integer("hbm_bytes", 1e6, 1e15);
  device.l2_bytes = reader.integer("l2_bytes", 1024, 1e12);
  device.l2_curve = l2_curve(reader);
  device.l2_dirty_bytes = reader.optional("l2_dirty_bytes")
                              ? reader.integer("l2_dirty_bytes", 0, static_cast<double>(device.l2_bytes))
                              : assumed_dirty_bytes(device.l2_bytes);
  if (reader.optional("l2_shared_room")) device.l2_shared_room = reader.real("l2_shared_room", 1, 16);
}

void read_rates(ProfileReader& reader, DeviceProfile& device) {
  device.hbm_gbps = reader.real("hbm_gbps", 0.1, 1e6);
  device.l2_gbps = reader.real("l2_gbps", 0.1, 1e7);
  device.smem_gbps = reader.real("smem_gbps", 0.1, 1e8);
  device.tensor_16bit_tflops = reader.real("tensor_16bit_tflops", 0.001, 1e6);
  if (reader.optional("tensor_fp8_tflops"))
    device.tensor_fp8_tflops = reader.real("tensor_fp8_tflops", 0, 1e6);
  if (reader.optional("tensor_clock_mhz"))
    device.tensor_clock_mhz = reader.real("tensor_clock_mhz", 1, 100'000);
  device.fp32_tflops = reader.real("fp32_tflops", 0.001, 1e6);
  device.exp_gops = reader.real("exp_gops", 0.1, 1e8);
  device.launch_us = reader.real("launch_us", 0, 1e4);
}

}  // namespace

bool is_built_in(std::string_view name) { return find_profile(name) || find_profile_for_gpu(name); }

DeviceProfile load_profile(const std::string& file) { return parse_profile(file, read_text_file(file)); }

DeviceProfile parse_profile(const std::string& file, const std::string& text) {
  const Json object = parse_json(file, text).root;
  ProfileReader reader(file, object);
  if (!object.is_object()) reader.refuse("must hold one JSON object, a key for each figure of the device");
  DeviceProfile device;
  device.name = reader.text("name");
  if (is_built_in(device.name))
    reader.refuse(
        fmt::format("key 'name' is '{}', which is a device that attnprof knows; give another name, so "
                    "that its rows are nobody else's",
                    device.name));
  device.title = reader.text("title");
  device.arch = architecture(reader);
  read_sm(reader, device);
  read_memory(reader, device);
  read_rates(reader, device);
  reader.refuse_unknown_keys();
  return device;
}

}  // namespace attnprof
