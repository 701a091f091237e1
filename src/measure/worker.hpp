// Measures in a process of its own, so that a fault, a sticky GPU error or a kernel that never ends costs one
// case.
//
// Parent and worker speak one JSON object a line: {"call": "time", ...} and {"ok": {...}} or
// {"error": kind, "text": sentence}. Requests come on the worker's stdin, answers go to reply_fd
// (base/child_process.hpp).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "measure/backend.hpp"

namespace attnprof {

class WorkerBackend : public Backend {
 public:
  // Starts `command` (program, arguments) and has it open its backend. Throws the error the worker's backend
  // threw, or EnvironmentError when the worker did not come up. A case that takes longer than
  // options.case_timeout_s from its prepare() on, or in which the worker dies, is CaseFailed with a sentence;
  // after any CaseFailed the next case runs in a fresh worker.
  WorkerBackend(std::vector<std::string> command, MeasureOptions options);
  ~WorkerBackend() override;

  // notices grows by what workers print.
  const BackendInfo& info() const override { return info_; }
  Build prepare(const Case& c) override;
  Verification verify() override;
  Latency time(Status& status) override;
  Counters count(Status& status) override;

 private:
  nlohmann::json start();
  void restart();
  void allow(double seconds, const char* sentence);
  nlohmann::json call(const nlohmann::json& request, const char* activity);
  nlohmann::json parse_reply(const std::string& line, const char* activity);
  Row call_for_row(const nlohmann::json& request, const char* activity);
  void collect_log();
  [[noreturn]] void lose(const std::string& event, const char* activity);
  [[noreturn]] void rethrow(const std::string& kind, const std::string& text);

  std::vector<std::string> command_;
  MeasureOptions options_;
  BackendInfo info_;
  std::unique_ptr<ChildProcess> child_;  // null after a case failed
  ChildProcess::Clock::time_point deadline_;
  std::string time_out_;      // what to say when it has passed
  std::string origin_;        // of the case's variant, where it is a user's own
  std::string last_message_;  // of the worker in hand, on stdout or stderr
};

// The worker's side: opens a backend with `open` when told its options and serves until its stdin ends.
// Returns the exit code. Dies with its parent. Throws UsageError when it was not started by a WorkerBackend.
int serve_worker(const std::function<std::unique_ptr<Backend>(const MeasureOptions&)>& open);

}  // namespace attnprof
