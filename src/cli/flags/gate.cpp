#include "cli/flags/gate.hpp"

#include <cstdlib>
#include <tuple>

#include "cli/flags/values.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

Metric& metric_named(GateOptions& options, std::string_view column) {
  for (Metric& metric : options.metrics)
    if (metric.column == column) return metric;
  throw std::logic_error(fmt::format("the gate has no column {}", column));
}

std::set<std::string> words(const char* option, const std::vector<std::string>& texts) {
  const std::vector<std::string> list = texts.empty() ? texts : parse_words(option, texts);
  return {list.begin(), list.end()};
}

}  // namespace

GateFlags::GateFlags(CLI::App& app, const std::string& group) : app_(app), group_(group) {
  add("--latency", latency_, "Slower by more than this is worse", "5%");
  add("--hbm", hbm_, "More HBM bytes than this are worse", "1%");
  add("--sm", sm_, "More SM bytes than this are worse", "0.5%");
  add("--executed-flops", flops_, "More executed tensor FLOPs than this are worse", "0.1%");
  add("--registers", registers_, "More registers a thread than this are worse", "")
      ->default_str("any where fewer blocks fit an SM");
  add("--spills", spills_, "More bytes of spills or stack a thread are worse", "0");
  add("--smem", smem_, "More bytes of shared memory a block are worse", "")
      ->default_str("any where fewer blocks fit an SM");
  add("--latency-floor", latency_floor_, "And by more than this", "")
      ->default_str("2us, less below --latency 5%");
  add("--hbm-floor", hbm_floor_, "And by more than this", "512KiB");
  add_permissions();
}

void GateFlags::add_permissions() {
  repeatable_.push_back(
      app_.add_flag("--allow-missing", allow_missing_, "Rows absent or skipped now are no failure")
          ->group(group_));
  repeatable_.push_back(
      add_list("--allow-different", allow_different_, "Facts of the environment that need not agree", ""));
  add_list("--fail-on", fail_on_, "What fails: latency, bytes, flops, build, missing, ambiguous",
           "latency,bytes,flops,build,missing");
}

CLI::Option* GateFlags::add(const std::string& name, std::string& text, const std::string& help,
                            const char* preset) {
  text = preset;
  CLI::Option* option = app_.add_option(name, text, help)
                            ->type_name(text.ends_with('%') ? "PERCENT" : "AMOUNT")
                            ->default_str(preset)
                            ->group(group_);
  repeatable_.push_back(option);
  return option;
}

CLI::Option* GateFlags::add_list(const std::string& name, std::vector<std::string>& texts,
                                 const std::string& help, const char* preset) {
  return app_.add_option(name, texts, help)
      ->allow_extra_args(false)
      ->type_name("LIST")
      ->default_str(preset)
      ->group(group_);
}

void GateFlags::add_compared_files(std::string& baseline, std::string& current) {
  app_.add_option("baseline", baseline, "CSV to hold against")->type_name("BASELINE.csv")->required();
  app_.add_option("current", current, "CSV that is judged")->type_name("CURRENT.csv")->required();
  repeatable_.push_back(
      app_.add_option("--run", run_, "Of the current file: last run, newest row of every case, or a run's id")
          ->type_name("ID")
          ->default_str("last"));
  repeatable_.push_back(app_.add_option("--key", key_, "Identity columns of another tool's CSV")
                            ->allow_extra_args(false)
                            ->type_name("LIST"));
  repeatable_.push_back(
      app_.add_option(
              "--metric", metrics_,
              "Its column to gate, its direction and thresholds, such as seconds:lower:1%:0.001; repeatable")
          ->allow_extra_args(false)
          ->type_name("METRIC"));
}

void GateFlags::add_outputs() {
  for (const auto& [name, file, what] :
       {std::tuple{"--markdown", &outputs_.markdown,
                   "GitHub-flavoured report to write; $GITHUB_STEP_SUMMARY is added to"},
        std::tuple{"--junit", &outputs_.junit, "JUnit XML to write, one test case a row"},
        std::tuple{"--json", &outputs_.json, "JSON to write, with everything"}})
    app_.add_option(name, *file, what)->type_name("FILE")->group(group_);
  app_.add_flag("--annotate", outputs_.annotate,
                "GitHub's ::error and ::warning lines too, as where GITHUB_ACTIONS is true")
      ->group(group_);
}

void GateFlags::add_against() {
  app_.add_option("--against", against_,
                  "What the first file is, for words and advice: baseline, or merge-base, a pull request's")
      ->type_name("baseline|merge-base")
      ->default_str(against_)
      ->group(group_);
}

GateOutputs GateFlags::outputs() const {
  GateOutputs outputs = outputs_;
  const char* actions = std::getenv("GITHUB_ACTIONS");
  outputs.annotate |= actions && std::string_view(actions) == "true";
  return outputs;
}

// Word by word, as they were given.
std::vector<std::string> GateFlags::given() const {
  std::vector<std::string> words;
  for (const CLI::Option* option : repeatable_) {
    if (option->count() == 0) continue;
    const bool is_flag = option->get_expected_min() == 0;
    for (const std::string& value : option->results()) {
      words.push_back(option->get_name());
      if (is_flag) break;
      words.push_back(value);
    }
  }
  return words;
}

GateOptions GateFlags::options() const {
  GateOptions options;
  set_thresholds(options);
  set_permissions(options);
  set_other_table(options);
  options.run = run_;
  options.against = choice<Against>("--against", against_,
                                    {{"baseline", Against::baseline}, {"merge-base", Against::merge_base}});
  options.given = given();
  return options;
}

void GateFlags::set_thresholds(GateOptions& options) const {
  Metric& latency = metric_named(options, "latency_median_ns");
  latency.relative = parse_relative("--latency", latency_);
  latency.floor = latency_floor_.empty() ? default_latency_floor_ns(latency.relative)
                                         : parse_floor_ns("--latency-floor", latency_floor_);
  Metric& hbm = metric_named(options, "hbm_bytes");
  hbm.relative = parse_relative("--hbm", hbm_);
  hbm.floor = parse_floor_bytes("--hbm-floor", hbm_floor_);
  metric_named(options, "sm_bytes").relative = parse_relative("--sm", sm_);
  metric_named(options, "executed_tensor_flops").relative = parse_relative("--executed-flops", flops_);
  for (const char* column : {"spill_bytes", "stack_bytes"})
    metric_named(options, column).floor = parse_floor_bytes("--spills", spills_);
  // What is asked for is judged by itself.
  Metric &registers = metric_named(options, "registers"), &smem = metric_named(options, "smem_bytes");
  if (!registers_.empty()) registers.floor = parse_floor_number("--registers", registers_);
  if (!smem_.empty()) smem.floor = parse_floor_bytes("--smem", smem_);
  registers.by_blocks = registers_.empty(), smem.by_blocks = smem_.empty();
}

void GateFlags::set_permissions(GateOptions& options) const {
  options.allow_missing = allow_missing_;
  options.allow_different = words("--allow-different", allow_different_);
  if (options.allow_different.contains("backend"))
    throw UsageError(
        "--allow-different 'backend': measured and simulated "
        "rows are never compared; gate each with its own baseline");
  if (!fail_on_.empty()) options.fail_on.clear();
  for (const std::string& word : words("--fail-on", fail_on_))
    options.fail_on.insert(choice<FailOn>("--fail-on", word,
                                          {{"latency", FailOn::latency},
                                           {"bytes", FailOn::bytes},
                                           {"flops", FailOn::flops},
                                           {"build", FailOn::build},
                                           {"missing", FailOn::missing},
                                           {"ambiguous", FailOn::ambiguous}}));
}

void GateFlags::set_other_table(GateOptions& options) const {
  if (key_.empty() != metrics_.empty())
    throw UsageError("--key and --metric belong together; give both for another tool's CSV");
  if (key_.empty()) return;
  options.key = parse_words("--key", key_);
  options.metrics.clear();
  for (const std::string& text : metrics_) options.metrics.push_back(parse_metric(text));
}

}  // namespace attnprof
