#include "measure/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.hpp"
#include "measure/backend_json.hpp"
#include "plan/case_json.hpp"
#include "plugin/own_variants.hpp"

namespace attnprof {
namespace {

using nlohmann::json;
using Clock = ChildProcess::Clock;

constexpr double start_limit_s = 60;  // driver, context and counters of a busy machine
constexpr int restart_attempts = 3;   // after a killed kernel the device may need a moment
constexpr std::chrono::seconds restart_pause(1);
constexpr size_t max_notices = 100;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

json status_request(const char* call, const Status& status) {
  Row row;
  row.status = status;
  return {{"call", call}, {"row", cells_to_json(row)}};
}

}  // namespace

WorkerBackend::WorkerBackend(std::vector<std::string> command, MeasureOptions options)
    : command_(std::move(command)), options_(std::move(options)) {
  try {
    info_ = info_from_json(start());
  } catch (const CaseFailed& failed) {
    throw EnvironmentError(failed.what());
  }
  collect_log();
}

WorkerBackend::~WorkerBackend() = default;

// Information of the backend that the fresh worker opened.
json WorkerBackend::start() {
  last_message_.clear();
  child_ = std::make_unique<ChildProcess>(command_);
  allow(std::max(start_limit_s, options_.case_timeout_s),
        "the worker took longer than {:g} s and was ended while");
  return call({{"call", "open"}, {"options", to_json(options_)}, {"variants", own_variants_message()}},
              "starting");
}

// What the worker does from now on must be answered within `seconds`; otherwise `sentence` is why it was
// ended.
void WorkerBackend::allow(double seconds, const char* sentence) {
  deadline_ = after(seconds);
  time_out_ = fmt::format(fmt::runtime(sentence), seconds);
}

void WorkerBackend::restart() {
  for (int attempt = 1;; ++attempt) {
    try {
      start();
      return;
    } catch (const std::exception& error) {
      child_.reset();
      if (attempt == restart_attempts)
        throw EnvironmentError(
            fmt::format("a case failed, and no worker could be started after it: {}", error.what()));
    }
    std::this_thread::sleep_for(restart_pause);
  }
}

Build WorkerBackend::prepare(const Case& c) {
  if (!child_) restart();
  origin_ = c.variant->origin;
  allow(options_.case_timeout_s, "the case took longer than --case-timeout {:g} s and was ended while");
  return call_for_row({{"call", "prepare"}, {"case", to_json(c)}}, "preparing").build;
}

Verification WorkerBackend::verify() {
  Row row = call_for_row({{"call", "verify"}}, "verifying");
  row.verify.reason = row.status.reason;
  return row.verify;
}

Latency WorkerBackend::time(Status& status) {
  Row row = call_for_row(status_request("time", status), "timing");
  status.flags = row.status.flags;
  return row.latency;
}

Counters WorkerBackend::count(Status& status) {
  Row row = call_for_row(status_request("count", status), "counting");
  status.flags = row.status.flags;
  return row.counters;
}

Row WorkerBackend::call_for_row(const json& request, const char* activity) {
  return cells_from_json(call(request, activity));
}

json WorkerBackend::call(const json& request, const char* activity) {
  if (!child_) throw CaseFailed("the case's worker has ended");
  std::string line;
  // A worker that no longer reads has ended; read_line says so too, after what it still wrote.
  child_->write_line(request.dump(-1, ' ', false, json::error_handler_t::replace));
  const ChildProcess::Read read = child_->read_line(line, deadline_);
  collect_log();
  switch (read) {
    case ChildProcess::Read::line:
      return parse_reply(line, activity);
    case ChildProcess::Read::ended:
      lose(fmt::format("the worker {} while", child_->describe_end()), activity);
    case ChildProcess::Read::timed_out:
      break;
  }
  child_->kill();
  lose(time_out_, activity);
}

json WorkerBackend::parse_reply(const std::string& line, const char* activity) {
  json reply = json::parse(line, nullptr, false);
  if (reply.is_object() && reply.contains("ok")) return reply["ok"];
  if (reply.is_object() && reply.contains("error"))
    rethrow(reply.value("error", ""), reply.value("text", ""));
  child_->kill();
  lose(fmt::format("the worker sent an answer that is none (\"{}\") while", line.substr(0, 80)), activity);
}

// The exception the worker's backend threw. A failed case may leave the device unusable for its process.
void WorkerBackend::rethrow(const std::string& kind, const std::string& text) {
  if (kind == "skipped") throw CaseSkipped(text);
  if (kind == "environment") throw EnvironmentError(text);
  if (kind == "usage") throw UsageError(text);
  child_.reset();
  throw CaseFailed(text);
}

void WorkerBackend::collect_log() {
  for (std::string& line : child_->take_log()) {
    last_message_ = line;
    std::vector<std::string>& notices = info_.notices;
    if (notices.size() < max_notices && std::find(notices.begin(), notices.end(), line) == notices.end())
      notices.push_back(std::move(line));
  }
}

void WorkerBackend::lose(const std::string& event, const char* activity) {
  collect_log();
  child_.reset();
  const std::string message = last_message_.empty() ? "" : "; its last message: " + last_message_;
  const std::string origin = origin_.empty() ? "" : fmt::format(" {}", origin_);
  throw CaseFailed(fmt::format("{} {}{}{}", event, activity, origin, message));
}

}  // namespace attnprof
