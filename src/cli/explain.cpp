#include <fmt/format.h>
#include <unistd.h>

#include "base/output_file.hpp"
#include "base/standard_streams.hpp"
#include "base/text_table.hpp"
#include "cli/commands.hpp"
#include "explain/explanation.hpp"
#include "files/meta.hpp"
#include "schedule/variant.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

// A name that is in no file may be one of ours without a row, or a slip.
void check_against(const std::string& against, const std::vector<ResultFile>& files) {
  if (against.empty() || find_variant(against)) return;
  std::string known;
  for (const ResultFile& file : files)
    for (const Row& row : file.rows) {
      if (row.identity.variant == against) return;
      if ((", " + known).find(", " + row.identity.variant + ", ") == std::string::npos)
        known += row.identity.variant + ", ";
    }
  throw UsageError(fmt::format("--against '{}' is no variant of the files, which have {}", against,
                               known.substr(0, known.size() - 2)));
}

std::vector<ResultFile> read_files(const std::vector<std::string>& paths) {
  std::vector<std::string> notices;
  std::vector<ResultFile> files;
  try {
    files = read_result_files(paths, explain_columns(), notices);
  } catch (const Error&) {
    for (const std::string& notice : notices) say(notice);
    throw;
  }
  for (const std::string& notice : notices) say(notice);
  return files;
}

}  // namespace

ExitCode explain_command(const ExplainCommand& command) {
  const bool to_file = !command.output.empty();
  if (to_file) check_new_file(command.output, command.overwrite, command.files);
  ExplainRequest request{.cases = {}, .against = command.against, .tiles = command.tiles};
  for (const std::string& text : command.cases) request.cases.push_back(Selector::parse("--case", text));
  const std::vector<ResultFile> files = read_files(command.files);
  check_against(command.against, files);
  const Explanations explanations = explain(files, request);
  for (const std::string& notice : explanations.notices) say(notice);
  const std::string text = command.format == Format::json
                               ? explain_json(explanations)
                               : explain_text(explanations, terminal_width(STDOUT_FILENO));
  if (to_file)
    replace_file(command.output, text);
  else
    print(text);
  return ExitCode::ok;
}

}  // namespace attnprof
