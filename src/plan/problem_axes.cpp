#include "plan/problem_axes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "plan/grammar.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {
namespace {

using Texts = std::vector<std::string>;

Texts batch_of_tokens(const SweepAxes& axes, const Problem& p) {
  if (*axes.tokens % p.q_len != 0)
    throw UsageError(fmt::format(
        "--tokens {} is no multiple of N = {}, so there is no whole batch; give lengths that divide it",
        *axes.tokens, p.q_len));
  return {fmt::format("{}", *axes.tokens / p.q_len)};
}

Texts heads_of_hidden(const SweepAxes& axes, const Problem& p) {
  if (*axes.hidden % p.head_dim != 0)
    throw UsageError(
        fmt::format("--hidden {} is no multiple of head_dim = {}, so there is no whole number of heads; give "
                    "a -d that divides it",
                    *axes.hidden, p.head_dim));
  return {fmt::format("{}", *axes.hidden / p.head_dim)};
}

Texts seqlen_texts(const SweepAxes& axes, const Problem&) {
  Texts texts;
  for (const int64_t n : axes.seqlens) texts.push_back(fmt::format("{}", n));
  return texts;
}

Texts as_q_len(const SweepAxes&, const Problem& p) { return {fmt::format("{}", p.q_len)}; }

// Fields whose values come from an axis of another kind.
struct DerivedAxis {
  std::string_view field;
  bool (*given)(const SweepAxes&);
  size_t (*size)(const SweepAxes&);
  Texts (*values)(const SweepAxes&, const Problem& so_far);
};
size_t one(const SweepAxes&) { return 1; }
constexpr DerivedAxis derived_axes[] = {
    {"batch", [](const SweepAxes& axes) { return axes.tokens.has_value(); }, one, batch_of_tokens},
    {"heads", [](const SweepAxes& axes) { return axes.hidden.has_value(); }, one, heads_of_hidden},
    {"q_len", [](const SweepAxes& axes) { return !axes.has_pairs(); },
     [](const SweepAxes& axes) { return axes.seqlens.size(); }, seqlen_texts},
    {"kv_len", [](const SweepAxes& axes) { return !axes.has_pairs(); }, one, as_q_len},
};

const DerivedAxis* derived_axis(const SweepAxes& axes, std::string_view field) {
  for (const DerivedAxis& axis : derived_axes)
    if (axis.field == field && axis.given(axes)) return &axis;
  return nullptr;
}

bool follows_another(const ProblemField& field, const SweepAxes& axes) {
  return !axes.fields.contains(field.name) && field.axis.preset.empty() && !field.absent_as.empty();
}

// `so_far`: with the fields that vary more slowly.
Texts values_of(const ProblemField& field, const SweepAxes& axes, const Problem& so_far) {
  if (const DerivedAxis* axis = derived_axis(axes, field.name)) return axis->values(axes, so_far);
  if (follows_another(field, axes)) return {find_problem_field(field.absent_as)->text(so_far)};
  return axes.values(field.name);
}

std::vector<const ProblemField*> by_nesting() {
  std::vector<const ProblemField*> fields;
  for (const ProblemField& field : problem_fields()) fields.push_back(&field);
  std::ranges::stable_sort(fields, {}, [](const ProblemField* field) { return field->axis.nesting; });
  return fields;
}

void set_value(const ProblemField& field, const std::string& text, Problem& problem) {
  if (!field.set(problem, text))
    throw UsageError(fmt::format("{} = '{}' is no value of it", field.name, text));
  if (!field.contradiction) return;
  if (const auto why = field.contradiction(problem)) throw UsageError(*why);
}

void add_problems(const SweepAxes& axes, std::span<const ProblemField* const> fields, const Problem& so_far,
                  std::vector<Problem>& all) {
  if (fields.empty()) return all.push_back(so_far);
  for (const std::string& text : values_of(*fields.front(), axes, so_far)) {
    Problem problem = so_far;
    set_value(*fields.front(), text, problem);
    add_problems(axes, fields.subspan(1), problem, all);
  }
}

}  // namespace

std::vector<std::string> SweepAxes::values(std::string_view name) const {
  if (const auto given = fields.find(name); given != fields.end()) return given->second;
  const ProblemField& field = problem_fields()[problem_field_index(name)];
  const std::string preset(field.axis.preset.empty() ? field.absent : field.axis.preset);
  return preset.empty() ? Texts{} : parse_words(name, {preset});
}

std::vector<Problem> problems_of(const SweepAxes& axes) {
  std::vector<Problem> all;
  add_problems(axes, by_nesting(), Problem{}, all);
  return all;
}

double count_problems(const SweepAxes& axes) {
  double count = 1;
  for (const ProblemField& field : problem_fields()) {
    const DerivedAxis* derived = derived_axis(axes, field.name);
    const size_t size = derived                        ? derived->size(axes)
                        : follows_another(field, axes) ? 1
                                                       : axes.values(field.name).size();
    count *= static_cast<double>(size);
  }
  return count;
}

}  // namespace attnprof
