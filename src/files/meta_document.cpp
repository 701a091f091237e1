#include "files/meta_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "row/row_rules.hpp"

namespace attnprof {
namespace {

constexpr int deepest = 20;  // what goes through a document calls itself once a level

[[noreturn]] void refuse_meta(const std::string& file, const std::string& why) {
  throw UsageError(fmt::format("{} is no attnprof meta file: {}; restore it, or move it away", file, why));
}

OrderedJson parsed(const std::string& text, const std::string& file) {
  const auto stop_when_deep = [&](int depth, OrderedJson::parse_event_t, const OrderedJson&) {
    if (depth > deepest) refuse_meta(file, fmt::format("more than {} brackets are open at once", deepest));
    return true;
  };
  OrderedJson json = OrderedJson::parse(text, stop_when_deep, /*allow_exceptions=*/false);
  if (json.is_discarded()) refuse_meta(file, "it is no JSON");
  return json;
}

// A text as we write it; somebody's tool may have made it a number.
std::optional<std::string> schema_of(const OrderedJson& json) {
  const auto found = json.find("schema");
  if (found == json.end()) return std::nullopt;
  return found->is_string() ? found->get<std::string>() : found->dump();
}

}  // namespace

OrderedJson parse_meta(const std::string& text, const std::string& file) {
  OrderedJson json = parsed(text, file);
  if (!json.is_object()) refuse_meta(file, "it is no object");
  if (const auto schema = schema_of(json))
    if (const auto why = unreadable_schema(*schema)) throw UsageError(fmt::format("{}: {}", file, *why));
  const auto runs = json.find("runs");
  if (runs == json.end() || !runs->is_object()) refuse_meta(file, "it has no object 'runs'");
  if (!std::ranges::all_of(*runs, [](const OrderedJson& run) { return run.is_object(); }))
    refuse_meta(file, "one of its runs is no object");
  return json;
}

std::string meta_text(const OrderedJson& meta) {
  return meta.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace attnprof
