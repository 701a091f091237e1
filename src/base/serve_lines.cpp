#include "base/serve_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/signal_end.hpp"

namespace attnprof {
namespace {

using nlohmann::json;

json error_reply(const char* kind, const char* text) { return {{"error", kind}, {"text", text}}; }

json reply_to(const std::string& line, const std::function<json(const json&)>& answer) {
  try {
    return {{"ok", answer(json::parse(line))}};
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
void take_reply_fd(const char* name) {
  if (fcntl(reply_fd, F_SETFD, FD_CLOEXEC) != 0)
    throw UsageError(fmt::format("`{}` is started by attnprof itself: use `attnprof sweep`", name));
}

}  // namespace

int serve_lines(const char* name, const std::function<json(const json&)>& answer) {
  take_reply_fd(name);
  prctl(PR_SET_NAME, name);
  // A worker that waits for the GPU would not notice the end of its stdin. It ends what it has started, too.
  end_silently();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (std::string line; std::getline(std::cin, line);) {
    const json reply = reply_to(line, answer);
    std::fflush(stdout);
    if (!write_all(reply.dump(-1, ' ', false, json::error_handler_t::replace) + '\n')) break;
  }
  return 0;
}

}  // namespace attnprof
