#include "row/row_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_names.hpp"

namespace attnprof {
namespace {

struct Value {
  OrderedJson operator()(const std::string* text) const {
    return text->empty() ? OrderedJson() : OrderedJson(*text);
  }
  OrderedJson operator()(const Count* count) const { return *count ? OrderedJson(**count) : OrderedJson(); }
  OrderedJson operator()(const Real* real) const {
    return *real && std::isfinite(**real) ? OrderedJson(**real) : OrderedJson();
  }
};

}  // namespace

std::string rows_as_json(const std::vector<Row>& rows, const std::vector<const Column*>& columns) {
  OrderedJson all = OrderedJson::array();
  for (const Row& row : rows) {
    OrderedJson object = OrderedJson::object();
    for (const Column* column : columns)
      object[std::string(column->name)] = std::visit(Value{}, column->field(const_cast<Row&>(row)));
    all.push_back(std::move(object));
  }
  return all.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
