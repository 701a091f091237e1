#include "row/row_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace attnprof {
namespace {

using Json = nlohmann::ordered_json;

struct Value {
  Json operator()(const std::string* text) const { return text->empty() ? Json() : Json(*text); }
  Json operator()(const Count* count) const { return *count ? Json(**count) : Json(); }
  Json operator()(const Real* real) const { return *real && std::isfinite(**real) ? Json(**real) : Json(); }
};

}  // namespace

std::string rows_as_json(const std::vector<Row>& rows, const std::vector<const Column*>& columns) {
  Json all = Json::array();
  for (const Row& row : rows) {
    Json object = Json::object();
    for (const Column* column : columns)
      object[std::string(column->name)] = std::visit(Value{}, column->field(const_cast<Row&>(row)));
    all.push_back(std::move(object));
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
