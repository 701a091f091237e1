#include "files/meta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json_names.hpp"
#include "files/env_id.hpp"
#include "files/meta_document.hpp"
#include "files/run_entry.hpp"
#include "plan/identity.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

std::string_view to_string(VerifyMode mode) {
  return mode == VerifyMode::sampled ? "sampled" : mode == VerifyMode::full ? "full" : "off";
}

std::string_view to_string(CounterMode mode) {
  return mode == CounterMode::automatic ? "auto" : mode == CounterMode::on ? "on" : "off";
}

OrderedJson device_json(const DeviceProfile& device) {
  OrderedJson curve = OrderedJson::array();
  for (const L2Point& point : device.l2_curve)
    curve.push_back({{"mebibytes", point.mebibytes}, {"miss_share", point.miss_share}});
  return {{"name", device.name},
          {"title", device.title},
          {"arch", device.arch},
          {"sms", device.sms},
          {"smem_per_sm_bytes", device.smem_per_sm_bytes},
          {"smem_per_block_bytes", device.smem_per_block_bytes},
          {"registers_per_sm", device.registers_per_sm},
          {"max_threads_per_sm", device.max_threads_per_sm},
          {"max_ctas_per_sm", device.max_ctas_per_sm},
          {"sm_clock_mhz", device.sm_clock_mhz},
          {"hbm_bytes", device.hbm_bytes},
          {"l2_bytes", device.l2_bytes},
          {"l2_dirty_bytes", device.l2_dirty_bytes},
          {"l2_shared_room", device.l2_shared_room},
          {"l2_curve", curve}};
}

// The ceilings that rows are held against.
OrderedJson peaks_json(const DeviceProfile& device) {
  OrderedJson peaks = OrderedJson::object();
  for (const PeakFigure& figure : peak_figures) peaks[std::string(figure.name)] = device.*figure.rate;
  return peaks;
}

OrderedJson options_json(const MeasureOptions& options) {
  return {{"verify", to_string(options.verify)},      {"counters", to_string(options.counters)},
          {"precision", options.precision},           {"max_time_s", options.max_time_s},
          {"case_timeout_s", options.case_timeout_s}, {"seed", options.seed},
          {"input", describe(options.input)}};
}

OrderedJson run_json(const RunFacts& facts, const BackendInfo& info) {
  OrderedJson run = run_entry(facts.command_line, info);
  run["device"] = device_json(info.device);
  run["peaks"] = peaks_json(info.device);
  run["ceilings"] = ceilings_json(info.ceilings);
  run["options"] = options_json(facts.options);
  run["plan"] = {{"cases", facts.cases}, {"id", facts.plan_id}};
  run["notices"] = info.notices;
  add_kernels(run, facts.kernels);
  return run;
}

// As in a CSV of the first schema with nothing measured. What came later changes it only where a case uses
// it: fields of the problem, by name. Columns of measurements never do.
std::string case_line(const Case& c) {
  constexpr size_t first_measured_columns = 66;
  Row row;
  row.identity = identity_of(c);
  std::vector<std::string> cells = identity_texts(row);
  cells.resize(cells.size() + first_measured_columns);
  return csv_record(cells);
}

}  // namespace

std::string plan_id(const std::vector<Case>& cases, const MeasureOptions& options) {
  std::string text = fmt::format("{} {} {} {} {}\n", to_string(options.verify), to_string(options.counters),
                                 options.precision, options.max_time_s, options.seed);
  if (options.input != InputKind::normal) text += fmt::format("{}\n", to_string(options.input));
  for (const Case& c : cases) {
    text += case_line(c);
    if (!c.variant->fingerprint.empty()) text += fmt::format("{}\n", c.variant->fingerprint);
  }
  return hash_text(text);
}

std::string meta_with_run(const std::string& existing, const std::string& file, const RunFacts& facts,
                          const BackendInfo& info) {
  OrderedJson meta = existing.empty()
                         ? OrderedJson{{"schema", schema_version}, {"runs", OrderedJson::object()}}
                         : parse_meta(existing, file);
  OrderedJson& runs = meta["runs"];
  if (!runs.contains(facts.run)) {
    runs[facts.run] = run_json(facts, info);
  } else {
    OrderedJson& resumed = runs[facts.run]["resumed"];
    if (!resumed.is_array()) resumed = OrderedJson::array();
    resumed.push_back(utc_now());
  }
  return meta_text(meta);
}

std::vector<std::string> with_meta(const std::vector<std::string>& csv_paths) {
  std::vector<std::string> all;
  for (const std::string& path : csv_paths)
    if (!path.empty()) all.insert(all.end(), {path, meta_path(path)});
  return all;
}

}  // namespace attnprof
