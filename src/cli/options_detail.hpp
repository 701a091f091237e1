// Shared by options*.cpp and config_file.cpp.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cli/options.hpp"
#include "plugin/own_variants.hpp"

namespace attnprof {

// The value of a word out of a closed list.
template <class T>
T choice(std::string_view option, std::string_view text,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
  std::string known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  throw UsageError(fmt::format("{} '{}' is none of {}", option, text, known));
}

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

// --variant-file and --plugin: variants of one's own, as options of `app`.
class OwnVariantFlags {
 public:
  OwnVariantFlags(CLI::App& app, const std::string& group);
  bool given() const { return !own_.files.empty() || !own_.plugins.empty(); }
  // Loads them in place of what was loaded before, and returns their names. Throws UsageError.
  std::vector<std::string> load() const;

 private:
  OwnVariants own_;
};

// The axes of a plan as options of `app`, and their values once it is parsed.
class AxisOptions {
 public:
  explicit AxisOptions(CLI::App& app);
  // Throws UsageError for what is malformed or contradicts itself.
  SweepAxes axes() const;
  bool names_variants() const { return variant_.given() || own_.given(); }

 private:
  OwnVariantFlags own_;
  AxisTexts variant_, seqlen_, q_len_, kv_len_, head_dim_, batch_, heads_, kv_heads_, br_, bc_, knob_, dtype_,
      mask_, cache_;
  CLI::Option *tokens_option_, *hidden_option_;
  std::string tokens_, hidden_;
};

// How and on what cases are measured, as options of `app`.
class MeasureFlags {
 public:
  explicit MeasureFlags(CLI::App& app);
  MeasureOptions measure() const;  // these throw UsageError
  DeviceChoice device() const;

 private:
  MeasureOptions measure_;  // folders
  DeviceChoice choice_;     // targets
  std::string backend_ = "auto", device_ = "0", counters_ = "auto", ceilings_ = "auto", verify_ = "sampled",
              precision_ = "0.5%", max_time_ = "0.5s", case_timeout_ = "30s", seed_ = "1", input_ = "normal";
};

// Thresholds and permissions of a gate as options of `app`, in a group of its help.
class GateFlags {
 public:
  GateFlags(CLI::App& app, const std::string& group);
  void add_outputs();
  GateOptions options() const;  // throws UsageError
  const GateOutputs& outputs() const { return outputs_; }

 private:
  CLI::Option* add(const std::string& name, std::string& text, const std::string& help, const char* preset);
  void add_list(const std::string& name, std::vector<std::string>& texts, const std::string& help,
                const char* preset);

  CLI::App& app_;
  std::string group_;
  std::string latency_, hbm_, sm_, flops_, registers_, spills_, smem_, latency_floor_, hbm_floor_;
  bool allow_missing_ = false;
  std::vector<std::string> allow_different_, fail_on_;
  GateOutputs outputs_;
};

inline constexpr const char* axes_footer =
    "Lists and ranges: 512,1k or 512:4k:512 (lo:hi:step) or 512:16k:x2 (lo:hi:xFACTOR); k is 1024.\n"
    "An axis may be given several times.\n\n";

int64_t whole_number(std::string_view option, std::string_view text, int64_t largest);
Format parse_format(const std::string& text, bool markdown);
void refuse_both(bool both, const char* a, const char* b);
void refuse_two_targets(const DeviceChoice& device);
// An option that names a file, a folder or a device. An empty name comes from a script's unset variable:
// taken as "not given", it would lose what was asked for.
CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type);
void add_result_files(CLI::App& app, std::vector<std::string>& files);  // that a command reads
void add_target(CLI::App& app, DeviceChoice& device);                   // --target and --target-file
void add_compiler(CLI::App& app, MeasureOptions& measure);
std::string command_line_of(const std::vector<std::string>& args);

std::vector<Dtype> parse_dtypes(const std::vector<std::string>& texts);

// Values of section [<name of app>] of the file for every option the command line has not given. Throws
// UsageError naming key and file.
void apply_config_file(CLI::App& app, const std::string& file);

}  // namespace attnprof
