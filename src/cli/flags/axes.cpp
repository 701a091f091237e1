// The axes of a sweep: options, defaults, contradictions.
#include "cli/flags/axes.hpp"
#include "cli/flags/values.hpp"
#include "plan/grammar.hpp"

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

std::vector<Mask> parse_masks(const std::vector<std::string>& texts) {
  std::vector<Mask> masks;
  for (const std::string& word : parse_words("--mask", texts))
    masks.push_back(choice<Mask>("--mask", word, {{"full", Mask::full}, {"causal", Mask::causal}}));
  return masks;
}

}  // namespace

std::vector<Dtype> parse_dtypes(const std::vector<std::string>& texts) {
  std::vector<Dtype> dtypes;
  for (const std::string& word : parse_words("--dtype", texts))
    dtypes.push_back(choice<Dtype>("--dtype", word,
                                   {{"fp32", Dtype::fp32},
                                    {"fp16", Dtype::fp16},
                                    {"bf16", Dtype::bf16},
                                    {"fp8", Dtype::fp8},
                                    {"e4m3", Dtype::fp8}}));
  return dtypes;
}

AxisOptions::AxisOptions(CLI::App& app) : own_(app, "Variants of your own") {
  const SweepAxes defaults;
  const auto add = [&](AxisTexts& axis, const char* names, const char* help, const std::string& text) {
    add_axis(app, axis, names, help, text, group);
  };
  add(variant_, "--variant", "Algorithms, see attnprof list", joined(defaults.variants));
  add(seqlen_, "-N,--seqlen", "Sequence lengths, q_len = kv_len", joined(defaults.seqlens));
  add(q_len_, "-q,--q-len", "Queries a sequence, with -k instead of -N", "");
  add(kv_len_, "-k,--kv-len", "Keys a sequence, with -q instead of -N", "");
  add(head_dim_, "-d,--head-dim", "Elements of a head", joined(defaults.head_dims));
  add(batch_, "-b,--batch", "Sequences", joined(defaults.batches));
  tokens_option_ = app.add_option("--tokens", tokens_, "Instead of -b: batch = tokens / N, such as 16k")
                       ->type_name("NUMBER")
                       ->group(group);
  add(heads_, "--heads", "Query heads", joined(defaults.heads));
  hidden_option_ = app.add_option("--hidden", hidden_, "Instead of --heads: heads = hidden / d, such as 2048")
                       ->type_name("NUMBER")
                       ->group(group);
  add(kv_heads_, "--kv-heads", "Key and value heads; fewer than --heads is GQA, 1 is MQA", "as --heads");
  add(br_, "--br,--Br", "Rows of Q a block works on", "the variant's");
  add(bc_, "--bc,--Bc", "Rows of K and V a block works on", "the variant's");
  add_axis(app, knob_, "--knob",
           "A variant's own setting and its values, such as stages=1,2; see attnprof list", "the variant's",
           group);
  knob_.option->type_name("NAME=LIST");
  add(dtype_, "--dtype", "fp32, fp16, bf16, fp8 (e4m3 Q, K, V with a scale a head)", "fp16");
  add(mask_, "--mask", "full, causal", "full");
  add(cache_, "--cache", "L2 before each sample: cold, warm, both", "cold");
}

SweepAxes AxisOptions::axes() const {
  contradict(seqlen_.given() && q_len_.given(), "-N", "-q", "-N sets q_len and kv_len");
  contradict(seqlen_.given() && kv_len_.given(), "-N", "-k", "-N sets q_len and kv_len");
  if (q_len_.given() != kv_len_.given())
    throw UsageError(fmt::format("{} needs {} beside it, or give -N for both", q_len_.given() ? "-q" : "-k",
                                 q_len_.given() ? "-k" : "-q"));
  const bool tokens = tokens_option_->count() > 0, hidden = hidden_option_->count() > 0;
  contradict(tokens && batch_.given(), "--tokens", "-b", "both set the batch");
  contradict(tokens && q_len_.given(), "--tokens", "-q/-k", "batch = tokens / N needs -N");
  contradict(hidden && heads_.given(), "--hidden", "--heads", "both set the heads");
  SweepAxes axes;
  if (auto own = own_.load(); !own.empty()) axes.variants = std::move(own);
  if (variant_.given()) axes.variants = parse_words("--variant", variant_.texts);
  if (seqlen_.given()) axes.seqlens = numbers(seqlen_, "-N");
  axes.q_lens = numbers(q_len_, "-q");
  axes.kv_lens = numbers(kv_len_, "-k");
  if (head_dim_.given()) axes.head_dims = numbers(head_dim_, "-d");
  if (batch_.given()) axes.batches = numbers(batch_, "-b");
  if (tokens) axes.tokens = parse_count("--tokens", tokens_);
  if (heads_.given()) axes.heads = numbers(heads_, "--heads");
  if (hidden) axes.hidden = parse_count("--hidden", hidden_);
  axes.kv_heads = numbers(kv_heads_, "--kv-heads");
  axes.brs = numbers(br_, "--br");
  axes.bcs = numbers(bc_, "--bc");
  axes.knobs = parse_knobs(knob_.texts);
  if (dtype_.given()) axes.dtypes = parse_dtypes(dtype_.texts);
  if (mask_.given()) axes.masks = parse_masks(mask_.texts);
  if (cache_.given()) axes.caches = parse_caches(cache_.texts);
  check_axes(axes);
  return axes;
}

}  // namespace attnprof
