// The axes of a sweep: options, defaults, contradictions.
#include "cli/flags/axes.hpp"
#include "cli/flags/values.hpp"
#include "plan/grammar.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {
namespace {

constexpr const char* group = "Axes (each a list; every combination is a case)";

template <class Values>
std::string joined(const Values& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

// The axis as given, or nothing to leave the default.
std::vector<int64_t> numbers(const AxisTexts& axis, std::string_view name) {
  return axis.given() ? parse_axis(name, axis.texts) : std::vector<int64_t>{};
}

void contradict(bool both, std::string_view a, std::string_view b, std::string_view why) {
  if (both) throw UsageError(fmt::format("{} and {} contradict each other: {}; give one of them", a, b, why));
}

std::vector<CacheState> parse_caches(const std::vector<std::string>& texts) {
  std::vector<CacheState> caches;
  const auto add = [&](CacheState state) {
    if (std::ranges::find(caches, state) == caches.end()) caches.push_back(state);
  };
  for (const std::string& word : parse_words("--cache", texts)) {
    const int which = choice<int>("--cache", word, {{"cold", 1}, {"warm", 2}, {"both", 3}});
    if (which & 1) add(CacheState::cold);
    if (which & 2) add(CacheState::warm);
  }
  return caches;
}

// "-d" of "-d,--head-dim".
std::string_view first_name(const ProblemField& field) {
  return field.axis.option.substr(0, field.axis.option.find(','));
}

// Words as the field writes them, each once.
std::vector<std::string> parse_field_words(const ProblemField& field, std::string_view option,
                                           const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : parse_words(option, texts)) {
    Problem problem;
    if (!field.set(problem, text))
      throw UsageError(fmt::format("{} '{}' is none of {}{}{}", option, text, fmt::join(field.words(), ", "),
                                   field.aliases.empty() ? "" : ", ", fmt::join(field.aliases, ", ")));
    if (const std::string word = field.text(problem); std::ranges::find(values, word) == values.end())
      values.push_back(word);
  }
  return values;
}

std::vector<std::string> parse_field(const ProblemField& field, const std::vector<std::string>& texts) {
  const std::string_view option = first_name(field);
  if (!field.is_count()) return parse_field_words(field, option, texts);
  std::vector<std::string> values;
  for (const int64_t value : parse_axis(option, texts, field.lowest))
    values.push_back(fmt::format("{}", value));
  return values;
}

// What stands in the help where nothing is given.
std::string preset_text(const ProblemField& field) {
  if (!field.axis.preset.empty()) return std::string(field.axis.preset);
  return field.absent_as.empty() ? std::string(field.absent) : fmt::format("as --{}", field.absent_as);
}

}  // namespace

std::vector<Dtype> parse_dtypes(const std::vector<std::string>& texts) {
  std::vector<Dtype> dtypes;
  for (const std::string& word : parse_field_words(*find_problem_field("dtype"), "--dtype", texts))
    dtypes.push_back(*parse_dtype(word));
  return dtypes;
}

// Instead of the option of a field, after it.
void AxisOptions::add_instead(CLI::App& app, std::string_view field) {
  if (field == "batch")
    tokens_option_ = app.add_option("--tokens", tokens_, "Instead of -b: batch = tokens / N, such as 16k")
                         ->type_name("NUMBER")
                         ->group(group);
  if (field == "heads")
    hidden_option_ =
        app.add_option("--hidden", hidden_, "Instead of --heads: heads = hidden / d, such as 2048")
            ->type_name("NUMBER")
            ->group(group);
}

AxisOptions::AxisOptions(CLI::App& app) : own_(app, "Variants of your own") {
  const SweepAxes defaults;
  const auto add = [&](AxisTexts& axis, const char* names, const char* help, const std::string& text) {
    add_axis(app, axis, names, help, text, group);
  };
  add(variant_, "--variant", "Algorithms, see attnprof list", joined(defaults.variants));
  add(seqlen_, "-N,--seqlen", "Sequence lengths, q_len = kv_len", joined(defaults.seqlens));
  for (const ProblemField& field : problem_fields()) {
    if (field.axis.option.empty()) continue;
    add_axis(app, fields_[std::string(field.name)], std::string(field.axis.option),
             std::string(field.axis.help), preset_text(field), group);
    add_instead(app, field.name);
  }
  add(br_, "--br,--Br", "Rows of Q a block works on", "the variant's");
  add(bc_, "--bc,--Bc", "Rows of K and V a block works on", "the variant's");
  add_axis(app, knob_, "--knob",
           "A variant's own setting and its values, such as stages=1,2; see attnprof list", "the variant's",
           group);
  knob_.option->type_name("NAME=LIST");
  add(cache_, "--cache", "L2 before each sample: cold, warm, both", "cold");
}

void AxisOptions::refuse_contradictions() const {
  const auto given = [&](const char* field) { return fields_.find(field)->second.given(); };
  contradict(seqlen_.given() && given("q_len"), "-N", "-q", "-N sets q_len and kv_len");
  contradict(seqlen_.given() && given("kv_len"), "-N", "-k", "-N sets q_len and kv_len");
  if (given("q_len") != given("kv_len"))
    throw UsageError(fmt::format("{} needs {} beside it, or give -N for both", given("q_len") ? "-q" : "-k",
                                 given("q_len") ? "-k" : "-q"));
  contradict(tokens_option_->count() > 0 && given("batch"), "--tokens", "-b", "both set the batch");
  contradict(tokens_option_->count() > 0 && given("q_len"), "--tokens", "-q/-k",
             "batch = tokens / N needs -N");
  contradict(hidden_option_->count() > 0 && given("heads"), "--hidden", "--heads", "both set the heads");
}

SweepAxes AxisOptions::axes() const {
  refuse_contradictions();
  SweepAxes axes;
  if (auto own = own_.load(); !own.empty()) axes.variants = std::move(own);
  if (variant_.given()) axes.variants = parse_words("--variant", variant_.texts);
  if (seqlen_.given()) axes.seqlens = numbers(seqlen_, "-N");
  for (const ProblemField& field : problem_fields())
    if (const auto axis = fields_.find(field.name); axis != fields_.end() && axis->second.given())
      axes.fields[axis->first] = parse_field(field, axis->second.texts);
  if (tokens_option_->count() > 0) axes.tokens = parse_count("--tokens", tokens_);
  if (hidden_option_->count() > 0) axes.hidden = parse_count("--hidden", hidden_);
  axes.brs = numbers(br_, "--br");
  axes.bcs = numbers(bc_, "--bc");
  axes.knobs = parse_knobs(knob_.texts);
  if (cache_.given()) axes.caches = parse_caches(cache_.texts);
  check_axes(axes);
  return axes;
}

}  // namespace attnprof
