// The worker's side of worker.hpp.
#include <nlohmann/json.hpp>

#include "base/serve_lines.hpp"
#include "measure/backend_json.hpp"
#include "measure/worker.hpp"
#include "plan/case_json.hpp"
#include "plugin/own_variants.hpp"

namespace attnprof {
namespace {

using nlohmann::json;
using Open = std::function<std::unique_ptr<Backend>(const MeasureOptions&)>;

json answer(const json& request, const Open& open, std::unique_ptr<Backend>& backend) {
  const std::string call = request.at("call").get<std::string>();
  if (call == "open") {
    load_same_variants(request.at("variants"));
    backend = open(options_from_json(request.at("options")));
    return to_json(backend->info());
  }
  Row row;
  if (request.contains("row")) row = cells_from_json(request["row"]);
  if (call == "prepare") {
    Case c = case_from_json(request.at("case"));
    set_launches(c, backend->info().device);
    row.build = backend->prepare(c);
  }
  if (call == "verify") {
    row.verify = backend->verify();
    row.status.reason = row.verify.reason;
  }
  if (call == "time") row.latency = backend->time(row.status);
  if (call == "count") row.counters = backend->count(row.status);
  return cells_to_json(row);
}

}  // namespace

int serve_worker(const Open& open) {
  std::unique_ptr<Backend> backend;
  return serve_lines("attnprof-worker", [&](const json& request) { return answer(request, open, backend); });
}

}  // namespace attnprof
