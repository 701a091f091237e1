#include "explain/selector.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "plan/grammar.hpp"
#include "problem/problem_fields.hpp"

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

// A column's own name, or the short one that tables have of a field of the problem, such as d.
const Column* column_called(std::string_view name) {
  if (const Column* column = find_column(name)) return column;
  for (const ProblemField& field : problem_fields())
    if (field.short_title() == name) return find_column(field.name);
  return nullptr;
}

std::vector<std::string> names_to_select_by() {
  std::vector<std::string> names = {"N"};
  for (const Column& column : schema())
    if (selects(column)) names.emplace_back(column.name);
  return names;
}

std::vector<const Column*> columns_named(std::string_view option, std::string_view name) {
  if (name == "N") return {find_column("q_len"), find_column("kv_len")};
  const Column* column = column_called(name);
  if (!column || !selects(*column))
    throw UsageError(fmt::format("{}: '{}' is no column to select by{}", option, name,
                                 did_you_mean(name, names_to_select_by(),
                                              "give N, d or one of the identity, such as variant or mask")));
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
