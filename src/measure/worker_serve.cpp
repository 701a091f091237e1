// The worker's side of worker.hpp.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "error.hpp"
#include "measure/backend_json.hpp"
#include "measure/worker.hpp"
#include "plan/case_json.hpp"

namespace attnprof {
namespace {

using nlohmann::json;
using Open = std::function<std::unique_ptr<Backend>(const MeasureOptions&)>;

json answer(const json& request, const Open& open, std::unique_ptr<Backend>& backend) {
  const std::string call = request.at("call").get<std::string>();
  if (call == "open") {
    backend = open(options_from_json(request.at("options")));
    return to_json(backend->info());
  }
  Row row;
  if (request.contains("row")) row = cells_from_json(request["row"]);
  if (call == "prepare") row.build = backend->prepare(case_from_json(request.at("case")));
  if (call == "verify") row.verify = backend->verify();
  if (call == "time") row.latency = backend->time(row.status);
  if (call == "count") row.counters = backend->count(row.status);
  return cells_to_json(row);
}

json error_reply(const char* kind, const char* text) { return {{"error", kind}, {"text", text}}; }

json reply_to(const std::string& line, const Open& open, std::unique_ptr<Backend>& backend) {
  try {
    return {{"ok", answer(json::parse(line), open, backend)}};
  } catch (const CaseSkipped& skipped) {
    return error_reply("skipped", skipped.what());
  } catch (const EnvironmentError& error) {
    return error_reply("environment", error.what());
  } catch (const UsageError& error) {
    return error_reply("usage", error.what());
  } catch (const std::exception& error) {  // CaseFailed, and what nobody expected
    return error_reply("failed", error.what());
  }
}

bool write_all(const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t length = write(reply_fd, text.data() + done, text.size() - done);
    if (length < 0 && errno != EINTR) return false;
    if (length > 0) done += static_cast<size_t>(length);
  }
  return true;
}

// What this process starts (a compiler) must not keep the parent waiting for answers after this one has died.
void take_reply_fd() {
  if (fcntl(reply_fd, F_SETFD, FD_CLOEXEC) != 0)
    throw UsageError("`attnprof worker` is started by attnprof itself: use `attnprof sweep`");
}

}  // namespace

int serve_worker(const Open& open) {
  take_reply_fd();
  prctl(PR_SET_NAME, "attnprof-worker");
  // A worker that waits for the GPU would not notice the end of its stdin.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<Backend> backend;
  for (std::string line; std::getline(std::cin, line);) {
    const json reply = reply_to(line, open, backend);
    std::fflush(stdout);
    if (!write_all(reply.dump(-1, ' ', false, json::error_handler_t::replace) + '\n')) break;
  }
  return 0;
}

}  // namespace attnprof
