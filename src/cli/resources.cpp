#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/distinct_files.hpp"
#include "base/output_file.hpp"
#include "base/standard_streams.hpp"
#include "cli/build_rows.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/flags/format.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/resource_rows.hpp"
#include "cli/text_output.hpp"
#include "files/env_id.hpp"
#include "files/meta.hpp"
#include "measure/comparable_facts.hpp"

namespace attnprof {
namespace {

constexpr const char* resources_footer =
    "FILE: a cubin, a fatbin, or an object file, library or executable with CUDA\n"
    "kernels in it. A row is one kernel for one architecture; ptx has no rows.\n\n"
    "Examples:\n"
    "  attnprof resources build/libk.so --block 256 -o head.csv   # and base.csv\n"
    "  attnprof gate base.csv head.csv         # exit code 1: spills, fewer blocks\n\n"
    "Rows match by file as it is given here, architecture and kernel.\n\n"
    "Exit codes: 0 all well, 2 wrong usage or a file that cannot be read, 3 no\n"
    "kernel, a tool or library that is asked for is missing, or -o cannot be written.";

class ResourcesParser {
 public:
  explicit ResourcesParser(CLI::App& app);
  ResourcesCommand options(const Args& args);

 private:
  ResourcesCommand options_;
  std::string block_, dynamic_smem_ = "0", disassembly_ = "auto", format_ = "table";
};

ResourcesParser::ResourcesParser(CLI::App& app) {
  app.add_option("files", options_.files, "What a compiler made")->type_name("FILE")->required();
  app.add_option("--block", block_, "Threads a block, of a kernel with launch bounds no more")
      ->type_name("N")
      ->default_str("launch bounds");
  app.add_option("--dynamic-smem", dynamic_smem_, "Shared memory a launch adds, bytes")
      ->type_name("BYTES")
      ->default_str(dynamic_smem_);
  add_choice(app, "--disassembly", disassembly_, "auto|on|off", "Local loads, stores by nvdisasm");
  add_name(app, "--as", options_.as, "Name of the one FILE in the rows", "NAME");
  add_output(app, options_.output, "CSV to write, with FILE.meta.json");
  app.add_flag("--overwrite", options_.overwrite, "Start FILE again");
  add_choice(app, "--format", format_, "table|csv|json", "Standard output");
  app.footer(resources_footer);
}

ResourcesCommand ResourcesParser::options(const Args& args) {
  constexpr int64_t most_threads = 1024, most_smem = 1 << 20;
  options_.command_line = command_line_of(args);
  if (!block_.empty()) options_.block = static_cast<int>(whole_number("--block", block_, most_threads));
  if (!block_.empty() && options_.block == 0) throw UsageError("--block '0': give 1 to 1024 threads");
  options_.dynamic_smem = whole_number("--dynamic-smem", dynamic_smem_, most_smem);
  options_.disassembly = choice<Disassembly>(
      "--disassembly", disassembly_,
      {{"auto", Disassembly::automatic}, {"on", Disassembly::on}, {"off", Disassembly::off}});
  options_.format = parse_format(format_, false);
  if (!options_.as.empty() && options_.files.size() > 1)
    throw UsageError(
        fmt::format("--as '{}' names one file, and {} are given", options_.as, options_.files.size()));
  return options_;
}

std::string joined(const std::set<std::string>& words) {
  return words.empty() ? "unknown" : fmt::format("{}", fmt::join(words, " "));
}

BuildRun build_run(const Reading& reading) {
  const ResourcesCommand& options = reading.options;
  std::set<std::string> compilers;
  for (const KernelRow& row : reading.rows)
    if (!row.compiler.empty()) compilers.insert(row.compiler);
  return {.run = new_run_id(),
          .command = "resources",
          .command_line = options.command_line,
          .environment = {{"compiler", joined(compilers)},
                          {"block", options.block ? fmt::format("{}", options.block) : "launch bounds"},
                          {"dynamic_smem", fmt::format("{}", options.dynamic_smem)},
                          {"disassembly", reading.nvdisasm.empty() ? "none" : "nvdisasm"}},
          .comparable = names_of(resources_facts)};
}

struct ResourceColumn {
  std::string name, title;  // title: in the table for people; empty: not there
  std::function<std::string(const KernelRow&)> text;
  bool number = false;
};

std::string count_text(const Count& count) { return count ? fmt::format("{}", *count) : ""; }

std::vector<ResourceColumn> resource_columns(const BuildRun& run, int64_t dynamic_smem) {
  const auto always = [](const std::string& value) { return [value](const KernelRow&) { return value; }; };
  const auto fact = [](auto member) {
    return [member](const KernelRow& row) { return fmt::format("{}", row.facts.*member); };
  };
  const auto count = [](auto member) {
    return [member](const KernelRow& row) { return count_text(row.*member); };
  };
  const auto smem = [dynamic_smem](const KernelRow& row) {
    return fmt::format("{}", row.facts.smem_bytes + dynamic_smem);
  };
  const auto copy = [](const KernelRow& row) { return row.copy > 1 ? fmt::format("{}", row.copy) : ""; };
  return {{"file", "file", [](const KernelRow& row) { return row.file; }},
          {"arch", "arch", [](const KernelRow& row) { return row.arch; }},
          {"kernel", "kernel", [](const KernelRow& row) { return row.kernel; }},
          {"copy", "copy", copy, true},
          {"run", "", always(run.run)},
          {"env_id", "", always(env_id(run))},
          {"threads_per_cta", "threads", count(&KernelRow::threads), true},
          {"registers", "regs", fact(&CubinKernel::registers), true},
          {"stack_bytes", "stack", fact(&CubinKernel::stack_bytes), true},
          {"smem_bytes", "smem", smem, true},
          {"constant_bytes", "const", fact(&CubinKernel::constant_bytes), true},
          {"local_loads", "ldl", count(&KernelRow::local_loads), true},
          {"local_stores", "stl", count(&KernelRow::local_stores), true},
          {"ctas_per_sm", "ctas/sm", count(&KernelRow::ctas_per_sm), true},
          {"code_hash", "", fact(&CubinKernel::code_hash)},
          {"compiler", "", [](const KernelRow& row) { return row.compiler; }}};
}

using Lines = std::vector<std::vector<std::string>>;

// Without what is the same in all rows and says little.
Lines for_people(const std::vector<KernelRow>& rows, std::vector<ResourceColumn> columns) {
  const std::set<std::string> where_it_varies = {"file", "arch", "copy"};
  std::erase_if(columns, [&](const ResourceColumn& column) {
    return column.title.empty() ||
           (where_it_varies.contains(column.name) && std::ranges::all_of(rows, [&](const KernelRow& row) {
              return column.text(row) == column.text(rows.front());
            }));
  });
  // Names are long: last, where a terminal's width cuts them.
  std::ranges::stable_partition(columns,
                                [](const ResourceColumn& column) { return column.name != "kernel"; });
  Lines lines = column_lines(rows, columns, &ResourceColumn::title);
  for (auto& line : lines)
    for (std::string& text : line)
      if (text.empty()) text = "-";
  return lines;
}

ExitCode resources_command(const ResourcesCommand& options) {
  check_distinct(with_meta({options.output}), options.files);
  if (!options.output.empty()) check_new_file(options.output, options.overwrite);
  const Reading reading = read_kernels(options);
  const BuildRun run = build_run(reading);
  const auto columns = resource_columns(run, options.dynamic_smem);
  const Lines lines = column_lines(reading.rows, columns);
  if (!options.output.empty()) write_build_rows(options.output, lines, run);
  if (!is_standard_output(options.output))
    print(options.format == Format::table ? format_lines(for_people(reading.rows, columns), Format::table)
                                          : format_lines(lines, options.format, number_columns(columns)));
  say_what_is_not_known(reading);
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry resources_entry;
const CommandEntry resources_entry{"resources", "What the kernels of built files need; needs no GPU",
                                   command_parser<ResourcesParser, resources_command>};

}  // namespace attnprof
