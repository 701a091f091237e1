// What a .meta.json says of a run.
#include <fmt/format.h>

#include "base/error.hpp"
#include "device/rate_range.hpp"
#include "files/meta.hpp"
#include "files/meta_document.hpp"

namespace attnprof {
namespace {

[[noreturn]] void refuse_peaks(const std::string& run, const std::string& file) {
  throw UsageError(fmt::format(
      "{}: the peaks of run {} are no object of numbers from 0 to 1e18; mend it or move it away", file, run));
}

}  // namespace

std::optional<RunRecord> find_run(const std::string& text, const std::string& run, const std::string& file) {
  const OrderedJson meta = parse_meta(text, file);
  if (!meta["runs"].contains(run)) return std::nullopt;
  try {
    const OrderedJson& json = meta["runs"][run];
    RunRecord record{.plan_id = json.at("plan").at("id"),
                     .env_id = json.at("env_id"),
                     .command_line = json.at("command_line"),
                     .comparable = {}};
    for (const std::string name : json.at("comparable"))
      record.comparable[name] = json.at("environment").value(name, "");
    return record;
  } catch (const OrderedJson::exception&) {
    throw UsageError(fmt::format("{}: the entry of run {} lacks plan, env_id or environment", file, run));
  }
}

Peaks find_peaks(const std::string& text, const std::string& run, const std::string& file) {
  const OrderedJson meta = parse_meta(text, file);
  Peaks peaks;
  if (!meta["runs"].contains(run)) return peaks;
  try {
    const OrderedJson json = meta["runs"][run].value("peaks", OrderedJson::object());
    for (const auto& [name, rate] : json.items())
      if (!is_rate(peaks[name] = rate.get<double>()) && peaks[name] != 0) refuse_peaks(run, file);
  } catch (const OrderedJson::exception&) {
    refuse_peaks(run, file);
  }
  return peaks;
}

Ceilings find_ceilings(const std::string& text, const std::string& run, const std::string& file) {
  const OrderedJson meta = parse_meta(text, file);
  if (!meta["runs"].contains(run)) return {};
  try {
    return parse_ceilings(meta["runs"][run].value("ceilings", OrderedJson::object()));
  } catch (const OrderedJson::exception&) {
    throw UsageError(fmt::format(
        "{}: the ceilings of run {} are not as attnprof writes them; mend the file or move it away", file,
        run));
  }
}

}  // namespace attnprof
