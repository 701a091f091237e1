// What a problem is made of: the one list of its fields. Options and axes, identity columns, JSON,
// describe(), seeds, the memo of predictions, gate keys, rules of variant files and macros all come from it.
// To add a field: src/README.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"

namespace attnprof {

// Of a count.
inline constexpr int64_t largest_field_count = 10'000'000;

// An option that is an axis of a sweep.
struct FieldAxis {
  std::string_view option = {};  // "-d,--head-dim"; empty: none, every case has `preset`
  std::string_view help = {};
  // Values where the option is not given, as it would be written; empty: what absence means (`absent`,
  // `absent_as`).
  std::string_view preset = {};
  int nesting = 10;  // an axis of a higher one varies faster
};

// A count has `count` alone; a word has `words`, `word` and `set_word`.
struct ProblemField {
  std::string_view name;         // of its column, its JSON key, and in rules: "kv_heads"
  std::string_view description;  // of its column
  int64_t Problem::*count = nullptr;
  int64_t lowest = 1;
  std::span<const std::string_view> (*words)() = nullptr;  // all it can be
  std::span<const std::string_view> aliases = {};          // what it may be called besides
  std::string_view (*word)(const Problem&) = nullptr;
  bool (*set_word)(Problem&, std::string_view) = nullptr;  // false: none of its words

  // What files say that lack its column, since they are older than it: this value, or that of another field.
  // Neither: they must have it.
  std::string_view absent = {}, absent_as = {};
  // Part of every text and hash from the first on. All others add nothing to any of them at their absent
  // value, so that seeds, plan ids and kernels of older files stay what they were.
  bool first_schema = false;

  FieldAxis axis = {};
  // Its part of describe(); null: "window128".
  std::string (*described)(const Problem&) = nullptr;
  std::string_view title = {};  // in tables for people; empty: the name
  // Of two fields that are mostly equal, at the first: the other, and the title of both in one.
  std::string_view twin = {}, twin_title = {};
  // Of a later field: a macro of kernels that has its value (schedule/tiling.hpp).
  std::string_view macro = {};
  bool in_kernel = false;        // of the first schema: kernels are compiled for it
  std::string_view plural = {};  // of a word: the key of a variant file's list of them
  // Sequences of unequal length: the problems of equal ones that they are (problem/equal_parts.hpp), which
  // have this field at its absent value. Null: it leaves all sequences alike.
  std::vector<Problem> (*parts)(const Problem&) = nullptr;
  // Why its value does not go with the fields before it; null: it always does.
  std::optional<std::string> (*contradiction)(const Problem&) = nullptr;

  bool is_count() const { return count != nullptr; }
  std::string text(const Problem& problem) const;
  // False where the text is no value of it.
  bool set(Problem& problem, std::string_view text) const;
  bool may_be_absent() const { return !absent.empty() || !absent_as.empty(); }
  bool is_absent(const Problem& problem) const;  // it has the value that absence means
  // Whether it adds something: not a later field at its absent value.
  bool tells(const Problem& problem) const { return first_schema || !is_absent(problem); }
  std::string_view short_title() const { return title.empty() ? name : title; }
};

// In the order of the columns.
std::span<const ProblemField> problem_fields();
const ProblemField* find_problem_field(std::string_view name);  // null if there is none
size_t problem_field_index(std::string_view name);              // throws std::logic_error if there is none

// Why this is no problem, as a sentence; nothing when it is one.
std::optional<std::string> contradiction(const Problem& problem);

// "fp16 causal b1 h16/4 q512 k1024 d64"; problems that differ have different texts.
std::string describe(const Problem& problem);

// Texts of all fields that tell something, for what is kept by problem.
std::string problem_key(const Problem& problem);

// A field that is in the list while this lives: for tests of what a new field changes. Its value lives in
// Problem::further. Not while other threads read the list.
class FurtherField {
 public:
  explicit FurtherField(const ProblemField& field);
  ~FurtherField();
  FurtherField(const FurtherField&) = delete;
  FurtherField& operator=(const FurtherField&) = delete;
};
// Another number for every list there has been; what is made of the list is kept by it.
int problem_fields_version();

}  // namespace attnprof
