#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_names.hpp"
#include "explain/explanation.hpp"

namespace attnprof {
namespace {

constexpr int explanation_schema = 1;

template <class Value>
OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

OrderedJson identity_json(const Identity& identity) {
  Row row;
  row.identity = identity;
  OrderedJson json = OrderedJson::object();
  for (const Column& column : schema())
    if (column.group == Group::identity && tells(column, row))
      json[std::string(column.name)] = cell(column, row);
  return json;
}

OrderedJson resources_json(const CaseExplanation& e) {
  OrderedJson all = OrderedJson::array();
  for (const ResourceTime& r : e.resources.times)
    all.push_back({{"name", r.name},
                   {"ns", r.ns},
                   {"share", r.ns / *e.row.latency.median_ns},
                   {"amount", r.amount},
                   {"unit", r.unit},
                   {"rate_source", r.rate_source},
                   {"columns", r.columns}});
  return all;
}

OrderedJson missing_json(const ResourceTable& table, std::string MissingResource::*field) {
  OrderedJson all = OrderedJson::array();
  for (const MissingResource& missing : table.missing) all.push_back(missing.*field);
  return all;
}

OrderedJson tiles_json(const CaseExplanation& e) {
  OrderedJson all = OrderedJson::array();
  for (const TilePrediction& t : e.tiles)
    all.push_back(
        {{"tile", fmt::format("{}x{}", t.br, t.bc)}, {"predicted_ns", t.ns}, {"speedup", t.speedup}});
  return all;
}

OrderedJson against_json(const std::optional<AgainstRow>& against) {
  if (!against) return OrderedJson();
  OrderedJson factors = OrderedJson::array();
  for (const Factor& f : against->split.factors)
    factors.push_back({{"name", f.name}, {"factor", f.factor}, {"columns", f.columns}, {"text", f.text}});
  return {
      {"file", file_name(against->file)},
      {"line", against->line},
      {"variant", against->identity.variant},
      {"tile", against->identity.tile},
      {"speedup", against->split.speedup},
      {"factors", factors},
      {"remainder", against->split.remainder},
      {"why_no_factors",
       against->split.why_no_factors.empty() ? OrderedJson() : OrderedJson(against->split.why_no_factors)}};
}

OrderedJson case_json(const CaseExplanation& e) {
  return {{"file", file_name(e.file)},
          {"line", e.line},
          {"identity", identity_json(e.row.identity)},
          {"br", or_null(e.row.resolved.br)},
          {"bc", or_null(e.row.resolved.bc)},
          {"run", e.row.provenance.run},
          {"device", e.row.provenance.device},
          {"latency_ns", *e.row.latency.median_ns},
          {"latency_source", e.row.latency.latency_source},
          {"resources", resources_json(e)},
          {"missing", missing_json(e.resources, &MissingResource::name)},
          {"why", missing_json(e.resources, &MissingResource::why)},
          {"binds", e.binds},
          {"idle_share", or_null(e.idle_share)},
          {"waves", or_null(e.waves)},
          {"occupancy_pct", or_null(e.occupancy_pct)},
          {"reread_bytes", or_null(e.reread_bytes)},
          {"sentences", e.sentences},
          {"tiles", tiles_json(e)},
          {"against", against_json(e.against)}};
}

}  // namespace

std::string explain_json(const Explanations& explanations) {
  OrderedJson cases = OrderedJson::array(), left_out = OrderedJson::array();
  for (const CaseExplanation& e : explanations.cases) cases.push_back(case_json(e));
  for (const auto& [reason, count] : explanations.left_out)
    left_out.push_back({{"reason", reason}, {"count", count}});
  const OrderedJson json = {
      {"schema", explanation_schema},
      {"against", explanations.against.empty() ? OrderedJson() : OrderedJson(explanations.against)},
      {"cases", cases},
      {"left_out", left_out},
      {"notices", explanations.notices}};
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
