// `attnprof gate-pr`: a pull request of anybody's repository against its merge base.
#include "cli/gate_pr.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/distinct_files.hpp"
#include "base/output_place.hpp"
#include "base/replace_file.hpp"
#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/flags/gate.hpp"
#include "cli/flags/names.hpp"
#include "cli/inputs.hpp"
#include "files/meta.hpp"
#include "files/read_meta.hpp"
#include "gate/compared_kernels.hpp"
#include "gate/pr/base_tree.hpp"
#include "gate/pr/inner_command.hpp"
#include "gate/pr/sides.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* gate_pr_footer =
    "Runs the command after -- on both sides of a pull request, on this machine and\n"
    "one after the other, and gates. The head is the working tree as it stands, with\n"
    "uncommitted changes; the base is a worktree of your repository at the merge base\n"
    "of REV and HEAD, in TMPDIR (or /tmp), which is gone at the end. The command is\n"
    "compile, sweep or resources. Both sides run the same words, each in its own\n"
    "folder: relative paths and absolute ones of the repository are each side's own,\n"
    "but not absolute ones inside a file. Submodules that you have checked out are\n"
    "there in the base too. -o keeps base.csv, head.csv, gate.md, gate.xml and\n"
    "gate.json, in place of an earlier gate-pr's, which left gate-pr.txt there too;\n"
    "files of these names that no gate-pr wrote are refused.\n\n"
    "Examples:\n"
    "  attnprof gate-pr --base origin/main -- \\\n"
    "    compile --variant-file k/mine.json --arch sm_90a\n"
    "  attnprof gate-pr --base origin/main --build 'make -C k' -o gate -- \\\n"
    "    sweep --plugin k/libmine.so -N 1k,4k -d 128\n"
    "  attnprof gate-pr --base origin/main --markdown \"$GITHUB_STEP_SUMMARY\" -- \\\n"
    "    sweep --backend sim --target-file k/device.json --variant flash2 -N 4k\n\n"
    "Exit codes: 0 no regression, 1 a regression, or rows missing or no longer ok,\n"
    "2 wrong usage, or an unknown REV, 3 nothing to compare (the head is its own\n"
    "base, or the base lacks what the command names), no git, repository or history,\n"
    "a side that does not build or cannot be measured, or an output that cannot be\n"
    "written.";

class GatePrParser {
 public:
  explicit GatePrParser(CLI::App& app);
  GatePrCommand options(const Args& args);

 private:
  GatePrCommand command_;
  GateFlags flags_;
};

GatePrParser::GatePrParser(CLI::App& app) : flags_(app, "Thresholds") {
  app.footer(gate_pr_footer);
  add_name(app, "--base", command_.base, "Where the pull request goes: branch, tag, commit", "REV")
      ->required();
  add_name(app, "--build", command_.build, "Line of sh that is run on each side first", "COMMAND");
  add_name(app, "-o,--output", command_.folder, "Folder for the rows of both sides and the reports", "DIR");
  flags_.add_outputs();
}

GatePrCommand GatePrParser::options(const Args& args) {
  const auto separator = std::ranges::find(args, "--");
  if (separator != args.end()) command_.words.assign(separator + 1, args.end());
  check_inner_command(command_.words);
  command_.options = flags_.options();
  command_.options.against = Against::merge_base;
  command_.outputs = flags_.outputs();
  if (command_.folder.empty()) return command_;
  const fs::path folder = command_.folder;
  for (auto [file, name] : {std::pair{&command_.outputs.markdown, "gate.md"},
                            {&command_.outputs.junit, "gate.xml"},
                            {&command_.outputs.json, "gate.json"}})
    if (file->empty()) *file = folder / name;
  return command_;
}

// Of a side, in the folder that is kept or else in `scratch`.
std::string rows_file(const GatePrCommand& command, const fs::path& scratch, const char* name) {
  return ((command.folder.empty() ? scratch : fs::absolute(command.folder)) / name).lexically_normal();
}

std::vector<std::string> kept_files(const GatePrCommand& command) {
  if (command.folder.empty()) return {};
  return with_meta({rows_file(command, "", "base.csv"), rows_file(command, "", "head.csv")});
}

// Beside rows and reports that a gate-pr kept.
constexpr std::string_view gate_pr_mark =
    "The rows and reports beside this file are attnprof gate-pr's; its next one replaces them.\n";
std::string mark_file(const GatePrCommand& command) { return rows_file(command, "", "gate-pr.txt"); }

std::vector<std::string> all_outputs(const GatePrCommand& command) {
  std::vector<std::string> all = kept_files(command);
  if (!command.folder.empty()) all.push_back(mark_file(command));
  const std::vector<std::string> reports = outputs_of(command.outputs);
  all.insert(all.end(), reports.begin(), reports.end());
  return all;
}

// They are the user's own, and would be replaced.
void refuse_others_files(const GatePrCommand& command) {
  if (command.folder.empty() || read_file(mark_file(command)) == gate_pr_mark) return;
  const fs::path folder = fs::path(mark_file(command)).parent_path();
  for (const std::string& file : all_outputs(command)) {
    const bool in_folder = fs::absolute(file).lexically_normal().parent_path() == folder;
    if (in_folder && fs::exists(file))
      throw UsageError(
          fmt::format("-o {} has {}, which no gate-pr wrote; move it away or give another folder",
                      command.folder, fs::path(file).filename().string()));
  }
}

// Before anything runs. What an earlier gate left in the folder must not be taken for this one's.
void prepare_outputs(const GatePrCommand& command) {
  std::error_code error;
  if (!command.folder.empty()) fs::create_directories(command.folder, error);
  if (error) refuse_unwritable(command.folder, error.message());
  for (const std::string& file : all_outputs(command))
    if (!file.empty()) writable_place(file);
  if (!command.folder.empty()) replace_file(mark_file(command), gate_pr_mark);
  claim(command.outputs);
  for (const std::string& file : kept_files(command)) fs::remove(file, error);
}

void refuse_own_base(const Repository& repository) {
  if (repository.is_its_own_base())
    throw EnvironmentError(fmt::format(
        "the head {} is its own merge base with {} and no file is changed, so there is nothing to compare; run "
        "gate-pr on the branch of a pull request",
        short_commit(repository.head), repository.revision));
}

std::string listed(const std::vector<std::string>& files) {
  constexpr size_t most = 5;
  const auto end = files.begin() + static_cast<ptrdiff_t>(std::min(files.size(), most));
  return fmt::format("{}{}", fmt::join(files.begin(), end, ", "), files.size() > most ? ", ..." : "");
}

KernelSources head_of(const Repository& repository) {
  return {repository.top.string(), short_commit(repository.head), repository.changed.size()};
}

void say_what_is_compared(const Repository& repository) {
  say(fmt::format("gate-pr: the head is the working tree: {}{}", hash_and_changes(head_of(repository)),
                  repository.changed.empty() ? "" : fmt::format(" ({})", listed(repository.changed))));
  say(fmt::format("gate-pr: the base is {}, the merge base of {} and HEAD", short_commit(repository.base),
                  repository.revision));
}

void say_of_submodules(const BaseTree& tree) {
  if (!tree.empty_submodules().empty())
    say(fmt::format(
        "gate-pr: not checked out here, so empty in the merge base too: {}; if they are needed, run "
        "first: git submodule update --init --recursive",
        fmt::join(tree.empty_submodules(), ", ")));
}

// The words for the base: without what the pull request brings.
std::vector<std::string> base_words(const InnerCommand& inner, const std::vector<NamedFile>& named,
                                    const std::vector<NamedFile>& fresh) {
  std::vector<std::string> names;
  for (const NamedFile& file : fresh) names.push_back(file.path.lexically_normal().string());
  const bool all_new = !fresh.empty() && std::ranges::count_if(named, &NamedFile::may_be_new) ==
                                             static_cast<ptrdiff_t>(fresh.size());
  if (all_new)
    throw EnvironmentError(
        fmt::format("the merge base does not have {}, which this pull request adds, so there is "
                    "nothing to compare yet",
                    fmt::join(names, ", ")));
  if (!names.empty())
    say(fmt::format("gate-pr: new in this pull request, so with nothing to compare: {}",
                    fmt::join(names, ", ")));
  return inner.without(fresh);
}

ExitCode gate_sides(const GatePrCommand& command, const Repository& repository, const Side& head,
                    const Side& base, const std::vector<NamedFile>& named) {
  const auto [before, now] = read_tables(base.file, head.file, {}, command.options.metrics);
  GateResult result = gate({before, meta_beside(base.file)}, {now, meta_beside(head.file)}, command.options);
  // What the files say is where this program's own kernels lie, the same for both.
  result.baseline_kernels = {{.path = repository.top.string(), .hash = short_commit(repository.base)}};
  result.current_kernels = {head_of(repository)};
  GateOutputs outputs = command.outputs;
  outputs.workspace = repository.top.string();  // CI may have checked it out into a folder of its own
  const ExitCode code = show_gate(result, command.options, outputs, stdout);
  const std::string unchanged = code == ExitCode::ok ? unchanged_sentence(head, base, named) : "";
  if (!unchanged.empty()) print(fmt::format("gate-pr: {}\n", unchanged));
  return code;
}

ExitCode gate_pull_request(const GatePrCommand& command) {
  prepare_outputs(command);
  remove_abandoned_scratch(ScratchDir::temporary_directory());
  const ScratchDir scratch;
  const fs::path folder = fs::canonical(scratch.path());
  const Git git(folder);
  std::vector<std::string> outputs = all_outputs(command);
  outputs.push_back(folder.string());  // TMPDIR may lie in the repository
  const Repository repository = open_repository(git, command.base, outputs);
  const InnerCommand inner(command.words, repository);
  refuse_own_base(repository);
  say_what_is_compared(repository);
  const BaseTree tree(git, repository, folder);
  say_of_submodules(tree);
  const Side head{"the head", repository.top / repository.folder, rows_file(command, folder, "head.csv")};
  const Side base{fmt::format("the merge base {}", short_commit(repository.base)),
                  tree.top() / repository.folder, rows_file(command, folder, "base.csv"), true};
  if (!fs::is_directory(base.folder))
    throw EnvironmentError(fmt::format(
        "{} has no folder {}, so there is nothing to compare; run gate-pr in a folder that both sides have",
        base.name, repository.folder.string()));
  for (const Side& side : {base, head}) build_side(side, command.build);
  const std::vector<NamedFile> named = inner.named(repository, base.folder);
  const std::vector<NamedFile> fresh = new_files(git, repository, named, head, base, command.build);
  const std::vector<std::string> words = base_words(inner, named, fresh);
  measure_side(head, inner.words());
  measure_side(base, words);
  return gate_sides(command, repository, head, base, named);
}

// Both sides are made of what git tracks: a report in place of a source would be measured.
void refuse_tracked_outputs(const GatePrCommand& command) {
  const ScratchDir scratch;
  const Git git(fs::canonical(scratch.path()));
  for (const std::string& file : all_outputs(command)) {
    if (file.empty()) continue;
    const std::string path = fs::absolute(file).lexically_normal().string();
    if (git.ask(fs::current_path(), {"--literal-pathspecs", "ls-files", "--error-unmatch", "--", path})
            .code == 0)
      throw UsageError(
          fmt::format("{} is a file that the repository tracks, and what is compared; give another", file));
  }
}

ExitCode gate_pr_command(const GatePrCommand& command) {
  check_distinct(all_outputs(command), target_inputs(command.words));
  refuse_others_files(command);
  forget_hook_variables();
  refuse_tracked_outputs(command);
  try {
    return gate_pull_request(command);
  } catch (const Error& error) {
    write_gate_error(error, command.outputs);
    throw;
  }
}

}  // namespace

extern const CommandEntry gate_pr_entry;
const CommandEntry gate_pr_entry{.name = "gate-pr",
                                 .help = "Gate a pull request of any git repository",
                                 .parser = command_parser<GatePrParser, gate_pr_command>,
                                 .takes_program = true};

}  // namespace attnprof
