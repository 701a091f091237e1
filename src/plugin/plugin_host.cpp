#include "plugin/plugin_host.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/serve_lines.hpp"
#include "plan/case_json.hpp"
#include "plugin/plugin_library.hpp"

namespace attnprof {
namespace {

using nlohmann::json;
using Clock = ChildProcess::Clock;

json device_to_json(const DeviceProfile& device) {
  return {{"name", device.name},
          {"arch", device.arch},
          {"sms", device.sms},
          {"smem_per_block_bytes", device.smem_per_block_bytes},
          {"hbm_bytes", device.hbm_bytes}};
}

DeviceProfile device_from_json(const json& j) {
  DeviceProfile device;
  device.name = j.at("name");
  device.arch = j.at("arch");
  device.sms = j.at("sms");
  device.smem_per_block_bytes = j.at("smem_per_block_bytes");
  device.hbm_bytes = j.at("hbm_bytes");
  return device;
}

json number(const std::optional<int64_t>& value) { return value ? json(*value) : json(); }

std::optional<int64_t> number_from(const json& j) {
  return j.is_null() ? std::nullopt : std::optional(j.get<int64_t>());
}

json to_json(const PluginAnswer& answer) {
  const StatedModel& m = answer.model;
  return {{"unsupported", answer.unsupported},
          {"workspace_bytes", answer.workspace_bytes},
          {"model",
           {number(m.sm_bytes), number(m.intermediate_bytes), number(m.hbm_bytes), number(m.tensor_flops)}}};
}

PluginAnswer answer_from_json(const json& j) {
  const json& m = j.at("model");
  return {.unsupported = j.at("unsupported"),
          .workspace_bytes = j.at("workspace_bytes"),
          .model = {number_from(m.at(0)), number_from(m.at(1)), number_from(m.at(2)), number_from(m.at(3))}};
}

json serve(const json& request, std::unique_ptr<PluginLibrary>& library) {
  if (!library) library = std::make_unique<PluginLibrary>(request.at("library").get<std::string>());
  if (request.at("call") == "describe") {
    const PluginDescription description = library->describe();
    return {{"name", description.name}, {"idea", description.idea}, {"takes", description.takes}};
  }
  return to_json(
      library->ask(problem_from_json(request.at("problem")), device_from_json(request.at("device"))));
}

// Its own last words, where it had any.
std::string last_words(ChildProcess& child) {
  const std::vector<std::string> log = child.take_log();
  return log.empty() ? "" : fmt::format("; its last message: {}", log.back());
}

}  // namespace

PluginHostSettings& plugin_host_settings() {
  static PluginHostSettings settings;
  return settings;
}

PluginDescription PluginHost::describe() {
  try {
    const json answer = call({{"call", "describe"}, {"library", path_}}, "describe itself");
    return {answer.at("name"), answer.at("idea"), answer.at("takes")};
  } catch (const CaseFailed& failed) {
    throw UsageError(failed.what());
  }
}

PluginAnswer PluginHost::ask(const Problem& problem, const DeviceProfile& device) {
  const json request = {{"call", "ask"},
                        {"library", path_},
                        {"problem", problem_to_json(problem)},
                        {"device", device_to_json(device)}};
  const auto [known, fresh] = known_.try_emplace(request.dump(-1, ' ', true, json::error_handler_t::replace));
  if (!fresh) return known->second;
  int64_t& workspace = workspaces_[problem_to_json(problem).dump()];
  try {
    known->second = answer_from_json(call(request, "say what it supports"));
    workspace = known->second.workspace_bytes;
  } catch (const CaseFailed& failed) {
    known->second.unsupported = failed.what();
  } catch (const UsageError& error) {  // the library is no longer what it was
    known->second.unsupported = error.what();
  }
  return known->second;
}

int64_t PluginHost::workspace_bytes(const Problem& problem) {
  const auto known = workspaces_.find(problem_to_json(problem).dump());
  return known == workspaces_.end() ? 0 : known->second;
}

// Throws CaseFailed when the process ended or hung.
json PluginHost::call(const json& request, const char* activity) {
  const PluginHostSettings& settings = plugin_host_settings();
  if (!hung_.empty()) throw CaseFailed(hung_);
  if (!child_) child_ = std::make_unique<ChildProcess>(settings.command);
  child_->write_line(request.dump(-1, ' ', false, json::error_handler_t::replace));
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(settings.limit_s));
  std::string line;
  const ChildProcess::Read read = child_->read_line(line, Clock::now() + limit);
  if (read == ChildProcess::Read::line) {
    const json reply = json::parse(line, nullptr, false);
    if (reply.is_object() && reply.contains("ok")) return reply["ok"];
    if (reply.is_object() && reply.contains("error")) throw UsageError(reply.value("text", ""));
  }
  if (read == ChildProcess::Read::timed_out) child_->kill();
  const std::string event = read == ChildProcess::Read::ended ? child_->describe_end()
                            : read == ChildProcess::Read::timed_out
                                ? fmt::format("did not answer within {:g} s", settings.limit_s)
                                : "wrote over attnprof's answers";
  const std::string words = last_words(*child_);
  child_.reset();
  std::string sentence = fmt::format("plug-in {} {} when asked to {}{}; mend it, or leave --plugin out",
                                     path_, event, activity, words);
  if (read == ChildProcess::Read::timed_out) hung_ = sentence;
  throw CaseFailed(sentence);
}

int serve_plugin_host() {
  std::unique_ptr<PluginLibrary> library;
  return serve_lines("attnprof-plugin", [&](const json& request) { return serve(request, library); });
}

}  // namespace attnprof
