#include <fmt/format.h>
#include <unistd.h>

#include "base/output_file.hpp"
#include "base/standard_streams.hpp"
#include "base/text_table.hpp"
#include "cli/commands.hpp"
#include "draw/roofline_output.hpp"
#include "files/meta.hpp"

namespace attnprof {
namespace {

std::string in_format(const RooflineData& data, RooflineFormat format) {
  switch (format) {
    case RooflineFormat::json:
      return roofline_json(data);
    case RooflineFormat::vega_lite:
      return roofline_vega_lite(data);
    case RooflineFormat::gnuplot:
      return roofline_gnuplot(picture_of(data));
    case RooflineFormat::csv:
      break;
  }
  return roofline_csv(data);
}

RooflineData read_data(const std::vector<std::string>& files) {
  std::vector<std::string> notices;
  const auto tell = [&] {
    for (const std::string& notice : notices) say(notice);
  };
  try {
    RooflineData data = collect_roofline(read_result_files(files, roofline_columns(), notices), notices);
    tell();
    return data;
  } catch (const Error&) {
    tell();
    throw;
  }
}

}  // namespace

ExitCode roofline_command(const RooflineCommand& command) {
  const bool to_file = !command.output.empty();
  if (to_file) check_new_file(command.output, command.overwrite, command.files);
  const RooflineData data = read_data(command.files);
  const std::string drawing =
      command.plot ? roofline_text(picture_of(data), terminal_width(STDOUT_FILENO)) : "";
  if (to_file)
    replace_file(command.output, in_format(data, command.format));
  else if (!command.plot)
    print(in_format(data, command.format));
  print(drawing);
  return ExitCode::ok;
}

}  // namespace attnprof
