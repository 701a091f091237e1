// What a variant file says, once it is read: variant_file.cpp makes a variant of it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugin/rule.hpp"
#include "plugin/variant_supports.hpp"

namespace attnprof {

inline constexpr size_t longest_variant_name = 40;

// A rule and where it stands, for the sentence when it has no value.
struct PlacedRule {
  std::string place;  // "threads of step attention"
  Rule rule;

  // Throws RuleError with the whole sentence.
  int64_t value(std::span<const RuleValue> values, int64_t lowest, int64_t highest) const;
};

// A macro's text: literal parts, and rules in between.
struct MacroText {
  std::string name;
  std::vector<std::string> literals;  // one more than rules
  std::vector<PlacedRule> rules;

  std::string text(std::span<const RuleValue> values) const;
};

struct FileStep {
  std::string name, file, entry;
  std::vector<MacroText> macros;
  PlacedRule threads, smem;
  std::array<PlacedRule, 3> grid;
  bool timed;
};

struct FileOperand {
  std::string name;
  Dtype dtype;
  Init init;
  PlacedRule batch, heads, rows, cols;
};

struct FileVariant {
  std::string origin, fingerprint, name, idea, needs;
  VariantSupports supports;
  TileChoice tile;
  std::vector<FileOperand> workspace;
  std::vector<FileStep> steps;
};

// Throws UsageError with file, place and field.
std::shared_ptr<const FileVariant> read_variant_file(const std::string& file);
// The same of a text as `file` would hold it.
std::shared_ptr<const FileVariant> parse_variant_file(const std::string& file, const std::string& text);

}  // namespace attnprof
