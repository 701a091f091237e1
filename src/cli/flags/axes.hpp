// The axes of a plan as options.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/own_variants.hpp"
#include "plan/sweep.hpp"

namespace attnprof {

// The texts an axis was given; converted after parsing, so that errors are ours.
struct AxisTexts {
  CLI::Option* option = nullptr;
  std::vector<std::string> texts;
  bool given() const { return option->count() > 0; }
};

// An option that takes one list at a time and may be repeated.
inline void add_axis(CLI::App& app, AxisTexts& axis, const std::string& names, const std::string& help,
                     const std::string& default_text, const std::string& group) {
  axis.option = app.add_option(names, axis.texts, help)
                    ->allow_extra_args(false)
                    ->type_name("LIST")
                    ->default_str(default_text)
                    ->group(group);
}

// The axes of a plan as options of `app`, and their values once it is parsed.
class AxisOptions {
 public:
  explicit AxisOptions(CLI::App& app);
  // Throws UsageError for what is malformed or contradicts itself.
  SweepAxes axes() const;
  bool names_variants() const { return variant_.given() || own_.given(); }

 private:
  void add_instead(CLI::App& app, std::string_view field);
  void refuse_contradictions() const;

  OwnVariantFlags own_;
  AxisTexts variant_, seqlen_, br_, bc_, knob_, cache_;
  std::map<std::string, AxisTexts, std::less<>> fields_;  // of the problem, by name
  CLI::Option *tokens_option_, *hidden_option_;
  std::string tokens_, hidden_;
};

inline constexpr const char* axes_footer =
    "Lists and ranges: 512,1k or 512:4k:512 (lo:hi:step) or 512:16k:x2 (lo:hi:xFACTOR); k is 1024.\n"
    "An axis may be given several times.\n\n";

std::vector<Dtype> parse_dtypes(const std::vector<std::string>& texts);

}  // namespace attnprof
