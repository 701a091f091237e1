#include "problem/problem_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <vector>

#include "problem/passes.hpp"

namespace attnprof {
namespace {

constexpr auto dtype_words = std::to_array<std::string_view>({"fp32", "fp16", "bf16", "fp8"});
constexpr auto dtype_aliases = std::to_array<std::string_view>({"e4m3"});
constexpr auto mask_words = std::to_array<std::string_view>({"full", "causal"});

template <auto member>
std::string_view word_of(const Problem& p) {
  return to_string(p.*member);
}

template <auto member, auto parse>
bool set_parsed(Problem& p, std::string_view text) {
  const auto value = parse(text);
  if (value) p.*member = *value;
  return value.has_value();
}

std::optional<std::string> kv_heads_do_not_divide(const Problem& p) {
  if (p.heads % p.kv_heads == 0) return std::nullopt;
  return fmt::format(
      "--kv-heads {} does not divide heads = {}: every kv head serves the same number of query heads",
      p.kv_heads, p.heads);
}

std::string nothing(const Problem&) { return ""; }

// Nesting: d before heads and lengths before batch, since --hidden and --tokens divide by them.
std::vector<ProblemField> first_schema() {
  static const std::string pass_description = fmt::format(
      "`{}`; `-` of a traced kernel, like mask and tile, and 0 like the sizes: its problem is not known",
      fmt::join(pass_names(), "`, `"));
  static const std::string pass_help = fmt::format("What is computed: {}", fmt::join(pass_names(), ", "));
  return {
      {.name = "pass",
       .description = pass_description,
       .words = pass_names,
       .word = word_of<&Problem::pass>,
       .set_word = set_parsed<&Problem::pass, parse_pass>,
       .absent = "fwd",
       .first_schema = true,
       .axis = {.option = "--pass", .help = pass_help, .preset = "fwd", .nesting = 0},
       .described =
           [](const Problem& p) { return p.pass == Pass::forward ? "" : std::string(to_string(p.pass)); },
       .plural = "passes"},
      {.name = "dtype",
       .description =
           "element type of Q, K, V and O (fp8: e4m3 Q, K and V with a scale a head, O in bf16); products "
           "accumulate in fp32; of a traced kernel the operands of its tensor core products (fp32: TF32), "
           "`-` "
           "without any",
       .words = []() -> std::span<const std::string_view> { return dtype_words; },
       .aliases = dtype_aliases,
       .word = word_of<&Problem::dtype>,
       .set_word = set_parsed<&Problem::dtype, parse_dtype>,
       .first_schema = true,
       .axis = {.option = "--dtype",
                .help = "fp32, fp16, bf16, fp8 (e4m3 Q, K, V with a scale a head)",
                .preset = "fp16",
                .nesting = 1},
       .described = [](const Problem& p) { return std::string(to_string(p.dtype)); },
       .in_kernel = true,
       .plural = "dtypes"},
      {.name = "mask",
       .description =
           "`full`, or `causal` aligned to the bottom right: query i sees key j when j <= i + kv_len - q_len",
       .words = []() -> std::span<const std::string_view> { return mask_words; },
       .word = word_of<&Problem::mask>,
       .set_word = set_parsed<&Problem::mask, parse_mask>,
       .first_schema = true,
       .axis = {.option = "--mask", .help = "full, causal", .preset = "full", .nesting = 2},
       .described = [](const Problem& p) { return std::string(to_string(p.mask)); },
       .in_kernel = true,
       .plural = "masks"},
      {.name = "batch",
       .description = "sequences",
       .count = &Problem::batch,
       .first_schema = true,
       .axis = {.option = "-b,--batch", .help = "Sequences", .preset = "1", .nesting = 60},
       .described = [](const Problem& p) { return fmt::format("b{}", p.batch); }},
      {.name = "heads",
       .description = "query heads",
       .count = &Problem::heads,
       .first_schema = true,
       .axis = {.option = "--heads", .help = "Query heads", .preset = "16", .nesting = 30},
       .described =
           [](const Problem& p) {
             return p.heads == p.kv_heads ? fmt::format("h{}", p.heads)
                                          : fmt::format("h{}/{}", p.heads, p.kv_heads);
           },
       .twin = "kv_heads",
       .twin_title = "heads"},
      {.name = "kv_heads",
       .description = "key and value heads",
       .count = &Problem::kv_heads,
       .absent_as = "heads",
       .first_schema = true,
       .axis = {.option = "--kv-heads",
                .help = "Key and value heads; fewer than --heads is GQA, 1 is MQA",
                .nesting = 31},
       .described = nothing,  // heads says it
       .contradiction = kv_heads_do_not_divide},
      {.name = "q_len",
       .description = "queries a sequence",
       .count = &Problem::q_len,
       .first_schema = true,
       .axis = {.option = "-q,--q-len", .help = "Queries a sequence, with -k instead of -N", .nesting = 50},
       .described =
           [](const Problem& p) {
             return p.q_len == p.kv_len ? fmt::format("N{}", p.q_len)
                                        : fmt::format("q{} k{}", p.q_len, p.kv_len);
           },
       .twin = "kv_len",
       .twin_title = "N"},
      {.name = "kv_len",
       .description = "keys a sequence",
       .count = &Problem::kv_len,
       .first_schema = true,
       .axis = {.option = "-k,--kv-len", .help = "Keys a sequence, with -q instead of -N", .nesting = 51},
       .described = nothing},  // q_len says it
      {.name = "head_dim",
       .description = "d, elements of a head",
       .count = &Problem::head_dim,
       .first_schema = true,
       .axis = {.option = "-d,--head-dim", .help = "Elements of a head", .preset = "64,128", .nesting = 20},
       .described = [](const Problem& p) { return fmt::format("d{}", p.head_dim); },
       .title = "d",
       .in_kernel = true},
  };
}

// Fields that came after the first result files. Each has an absent value.
std::vector<ProblemField> later_fields() {
  return {{.name = "page_size",
           .description = "keys of a page of K and V, found by a block table; 0: K and V are dense",
           .count = &Problem::page_size,
           .lowest = 0,
           .absent = "0",
           .axis = {.option = "--page-size", .help = "Keys of a page of K and V; 0: dense", .nesting = 55},
           .title = "page",
           .macro = "PAGE_SIZE"}};
}

constexpr size_t most_fields = 64;  // so that the list never moves

std::vector<ProblemField>& list() {
  static std::vector<ProblemField> fields = [] {
    std::vector<ProblemField> all = first_schema();
    all.reserve(most_fields);
    for (const ProblemField& field : later_fields()) all.push_back(field);
    return all;
  }();
  return fields;
}

struct Version {
  int current = 0, latest = 0;
};
Version& version() {
  static Version the_version;
  return the_version;
}

std::string described_part(const ProblemField& field, const Problem& p) {
  if (!field.tells(p)) return "";
  if (field.described) return field.described(p);
  return fmt::format("{}{}{}", field.name, field.is_count() ? "" : "=", field.text(p));
}

}  // namespace

std::string ProblemField::text(const Problem& problem) const {
  return is_count() ? fmt::format("{}", problem.*count) : std::string(word(problem));
}

bool ProblemField::set(Problem& problem, std::string_view text) const {
  if (!is_count()) return set_word(problem, text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || value < lowest || value > largest_field_count) return false;
  problem.*count = value;
  return true;
}

bool ProblemField::is_absent(const Problem& problem) const {
  if (!absent.empty()) return text(problem) == absent;
  return !absent_as.empty() && text(problem) == find_problem_field(absent_as)->text(problem);
}

std::span<const ProblemField> problem_fields() { return list(); }

const ProblemField* find_problem_field(std::string_view name) {
  const auto found = std::ranges::find(list(), name, &ProblemField::name);
  return found == list().end() ? nullptr : &*found;
}

size_t problem_field_index(std::string_view name) {
  const ProblemField* field = find_problem_field(name);
  if (!field) throw std::logic_error(fmt::format("a problem has no field {}", name));
  return static_cast<size_t>(field - list().data());
}

std::optional<std::string> contradiction(const Problem& problem) {
  for (const ProblemField& field : problem_fields())
    if (field.contradiction)
      if (auto why = field.contradiction(problem)) return why;
  return std::nullopt;
}

std::string describe(const Problem& problem) {
  std::string text;
  for (const ProblemField& field : problem_fields())
    if (const std::string part = described_part(field, problem); !part.empty())
      text += (text.empty() ? "" : " ") + part;
  return text;
}

std::string problem_key(const Problem& problem) {
  std::string key;
  for (const ProblemField& field : problem_fields())
    if (field.tells(problem)) key += fmt::format("{}={} ", field.name, field.text(problem));
  return key;
}

FurtherField::FurtherField(const ProblemField& field) {
  if (list().size() == most_fields) throw std::length_error("too many fields of a problem");
  list().push_back(field);
  version().current = ++version().latest;
}

FurtherField::~FurtherField() {
  list().pop_back();
  version().current = 0;
}

int problem_fields_version() { return version().current; }

}  // namespace attnprof
