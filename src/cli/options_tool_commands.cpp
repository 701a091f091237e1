// The command lines of `attnprof list`, `compile` and `doctor`.
#include "cli/options_tool_commands.hpp"

#include "plan/grammar.hpp"

namespace attnprof {
namespace {

const std::string compile_footer =
    std::string(axes_footer) +
    "Example:\n"
    "  attnprof compile --arch sm_80,sm_90a --variant flash2 -d 64,128 -o build.csv\n\n"
    "Exit codes: 0 all compiled, 1 a kernel does not compile, 2 wrong usage, 3 no compiler, no\n"
    "kernel, or -o cannot be written.";

}  // namespace

ListParser::ListParser(CLI::App& root)
    : app_(*root.add_subcommand("list", "Show variants with their tiles on a device, and the devices known")),
      own_(app_, "Variants of your own") {
  add_target(app_, options_.device);
  add_axis(app_, head_dims_, "-d,--head-dim", "Show default tiles for these", "64,128", "Options");
  add_axis(app_, dtypes_, "--dtype", "Show default tiles for these", "fp16", "Options");
  app_.add_flag("--columns", options_.columns, "Show the columns of a row instead");
  app_.add_flag("--rules", options_.rules,
                "Show the numbers that every case is verified and timed by instead");
  app_.add_option("--format", format_, "table, csv, json or markdown")->default_str(format_);
}

ListOptions ListParser::options() {
  own_.load();
  refuse_two_targets(options_.device);
  refuse_both(options_.columns && options_.rules, "--columns", "--rules");
  if (head_dims_.given()) options_.head_dims = parse_axis("-d", head_dims_.texts);
  if (dtypes_.given()) options_.dtypes = parse_dtypes(dtypes_.texts);
  options_.format = parse_format(format_, true);
  return options_;
}

NewVariantParser::NewVariantParser(CLI::App& root)
    : app_(*root.add_subcommand("new-variant", "Write a kernel of your own to start from")) {
  app_.footer(
      "Writes NAME.json and NAME.cu, a kernel that is right and slow, and says what to type next. NAME: a "
      "small\nletter, then small letters, digits and '_'.\n\n"
      "Example:\n  attnprof new-variant mine -o kernels\n\n"
      "Exit codes: 0 all well, 2 wrong usage, 3 cannot be written.");
  app_.add_option("NAME", command_.name, "Of the variant and its files")->required();
  add_name(app_, "-o,--output", command_.folder, "Folder of the two files; made if it is missing", "FOLDER")
      ->default_str(".");
  add_name(app_, "--kernels", command_.kernels_dir, "Kernel sources", "DIR")
      ->default_str("beside the program");
}

CompileParser::CompileParser(CLI::App& root)
    : app_(*root.add_subcommand("compile", "Build the kernels of a plan; needs no GPU")), axes_(app_) {
  app_.add_option("--arch", archs_, "Targets of nvcc, such as sm_80,sm_90a,sm_100a")
      ->allow_extra_args(false)
      ->required()
      ->type_name("LIST");
  app_.add_option("--jobs", jobs_, "Compilations at a time; 0: one less than there are cores")
      ->default_str(jobs_);
  add_compiler(app_, options_.measure);
  add_name(app_, "-o,--output", options_.output, "CSV to write", "FILE");
  app_.add_flag("--overwrite", options_.overwrite, "Start FILE again");
  app_.add_option("--format", format_, "Standard output: table, csv or json")->default_str(format_);
  app_.footer(compile_footer);
}

CompileCommand CompileParser::options() {
  options_.axes = axes_.axes();
  options_.archs = parse_words("--arch", archs_);
  options_.jobs = static_cast<int>(whole_number("--jobs", jobs_, 1024));
  options_.format = parse_format(format_, false);
  return options_;
}

CeilingsParser::CeilingsParser(CLI::App& root)
    : app_(*root.add_subcommand("ceilings", "Measure what the GPU does at most: memory, caches, products")) {
  app_.footer(
      "Each on random data, the median of 40 launches of about 1 ms; spread: 90th less 10th percentile. "
      "Rates of the\n"
      "SMs go with their clock, which heavy products lower: the clock they ran at is beside them. What is "
      "measured\n"
      "replaces what sweeps have kept of this GPU.\n\n"
      "Exit codes: 0 all well, 2 wrong usage, 3 no GPU that can be measured, or -o\n"
      "cannot be written.");
  app_.add_option("--device", device_, "GPU number")->default_str(device_);
  app_.add_option("--format", format_, "Standard output: table, csv or json")->default_str(format_);
  add_name(app_, "-o,--output", command_.output, "CSV to write", "FILE");
  app_.add_flag("--overwrite", command_.overwrite, "Write over FILE");
  add_compiler(app_, command_.measure);
}

CeilingsCommand CeilingsParser::command() {
  command_.format = parse_format(format_, false);
  command_.measure.device = static_cast<int>(whole_number("--device", device_, 1023));
  return command_;
}

DoctorParser::DoctorParser(CLI::App& root)
    : app_(*root.add_subcommand("doctor", "Say what works here, what is missing and what to do")) {
  app_.add_option("--format", format_, "text or json")->default_str(format_);
  app_.add_flag("--self-test", options_.self_test,
                "Copy and fill known sizes and compare with the counters; measure the rate of mma.sync");
  app_.add_option("--device", device_, "GPU number")->default_str(device_);
  add_name(app_, "-o,--output", options_.output, "Self-test figures as CSV", "FILE");
  add_compiler(app_, options_.measure);
}

DoctorCommand DoctorParser::options() {
  options_.json = choice<bool>("--format", format_, {{"text", false}, {"json", true}});
  if (!options_.self_test && !options_.output.empty())
    throw UsageError("-o keeps the figures of --self-test; give --self-test too, or leave -o out");
  refuse_both(options_.self_test && options_.json, "--self-test", "--format json");
  options_.measure.device = static_cast<int>(whole_number("--device", device_, 1023));
  return options_;
}

}  // namespace attnprof
