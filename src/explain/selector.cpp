#include "explain/selector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

bool selects(const Column& column) {
  return column.group == Group::identity || column.group == Group::resolved || column.name == "run" ||
         column.name == "device" || column.name == "backend";
}

bool is_count(const Column& column) {
  Row row;
  return std::holds_alternative<Count*>(column.field(row));
}

std::vector<const Column*> columns_named(std::string_view option, std::string_view name) {
  if (name == "N") return {find_column("q_len"), find_column("kv_len")};
  const Column* column = find_column(name);
  if (!column || !selects(*column))
    throw UsageError(fmt::format(
        "{}: '{}' is no column to select by; give N or one of the identity, such as variant or head_dim",
        option, name));
  return {column};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Selector Selector::parse(std::string_view option, std::string_view text) {
  Selector selector;
  for (const std::string_view pair : split(text, ',')) {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size())
      throw UsageError(fmt::format("{} '{}': '{}' is no COLUMN=VALUE; give such as variant=flash2,N=4k",
                                   option, text, pair));
    const std::string_view value = pair.substr(equals + 1);
    for (const Column* column : columns_named(option, pair.substr(0, equals)))
      selector.wanted_.emplace_back(
          column, is_count(*column) ? fmt::format("{}", parse_count(option, value)) : std::string(value));
  }
  return selector;
}

bool Selector::takes(const Row& row) const {
  return std::ranges::all_of(wanted_,
                             [&](const auto& each) { return cell(*each.first, row) == each.second; });
}

}  // namespace attnprof
