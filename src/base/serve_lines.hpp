// The child's side of ChildProcess: answers one JSON object a line.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace attnprof {

// Serves until its stdin ends: {"ok": answer(request)}, or {"error": kind, "text": sentence} for what
// `answer` throws. Returns the exit code. Dies with its parent. Throws UsageError when this process was not
// started by attnprof itself. `name`: as which the process shows up in lists.
int serve_lines(const char* name, const std::function<nlohmann::json(const nlohmann::json&)>& answer);

}  // namespace attnprof
