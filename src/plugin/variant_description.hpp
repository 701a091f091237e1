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

// A rule and the field it stands in, for the sentence when it has no value.
struct FieldRule {
  std::string field;  // "threads of step attention"
  Rule rule;

  // Throws RuleError with the whole sentence.
  int64_t value(std::span<const RuleValue> values, int64_t lowest, int64_t highest) const;
};

// A macro's text: literal parts, and rules in between.
struct MacroText {
  std::string name;
  std::vector<std::string> literals;  // one more than rules
  std::vector<FieldRule> rules;

  std::string text(std::span<const RuleValue> values) const;
};

struct StepDescription {
  std::string name, file, entry;
  std::vector<MacroText> macros;
  FieldRule threads, smem;
  std::array<FieldRule, 3> grid;
  bool timed;
};

struct OperandDescription {
  std::string name;
  ElementType dtype;
  Init init;
  FieldRule batch, heads, rows, cols;
};

struct VariantDescription {
  std::string origin, fingerprint, name, idea, needs;
  VariantSupports supports;
  TileChoice tile;
  std::vector<OperandDescription> workspace;
  std::vector<StepDescription> steps;
};

// Throws UsageError with file, line and field.
std::shared_ptr<const VariantDescription> read_variant_description(const std::string& file);
// The same of a text as `file` would hold it.
std::shared_ptr<const VariantDescription> parse_variant_description(const std::string& file,
                                                                    const std::string& text);

}  // namespace attnprof
