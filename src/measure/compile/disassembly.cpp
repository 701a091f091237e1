#include "measure/compile/disassembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "measure/compile/ptxas_report.hpp"

namespace attnprof {
namespace {

// "LDL.64" of "        /*0130*/              @P0 LDL.64 R2, [R1] ;"; empty of a line that is no instruction.
std::string_view mnemonic(std::string_view line) {
  const size_t begin = line.find("/*"), end = line.find("*/");
  if (begin == std::string_view::npos || end == std::string_view::npos ||
      line.find_first_not_of(" \t{") != begin)
    return "";
  line.remove_prefix(end + 2);
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size())); };
  skip_blanks();
  if (line.starts_with('@')) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    skip_blanks();
  }
  return line.substr(0, line.find_first_of(" ;"));
}

bool is(std::string_view mnemonic, std::string_view operation) {
  return mnemonic.starts_with(operation) &&
         (mnemonic.size() == operation.size() || mnemonic[operation.size()] == '.');
}

}  // namespace

std::map<std::string, LocalAccesses> parse_disassembly(std::string_view text) {
  constexpr std::string_view section = ".section\t.text.";
  std::map<std::string, LocalAccesses> all;
  LocalAccesses* current = nullptr;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (const size_t found = line.find(section); found != std::string_view::npos) {
      const std::string_view rest = line.substr(found + section.size());
      current = &all[std::string(rest.substr(0, rest.find(',')))];
    } else if (current) {
      const std::string_view operation = mnemonic(line);
      current->loads += is(operation, "LDL");
      current->stores += is(operation, "STL");
    }
  }
  return all;
}

std::map<std::string, LocalAccesses> local_accesses(std::string_view cubin, const std::string& program,
                                                    const std::string& where) {
  const ScratchDir scratch;
  const std::string input = scratch.path() / "kernel.cubin", output = scratch.path() / "text";
  std::ofstream(input, std::ios::binary) << cubin;
  const int code = run_program({program, "-c", "-ndf", input}, output);
  const std::string text = read_file(output);
  if (code != 0)
    throw EnvironmentError(fmt::format(
        "{}: {} does not disassemble it (exit code {}: {}); take the one of a newer toolkit, or give "
        "--disassembly off",
        where, program, code, first_error_line(text)));
  return parse_disassembly(text);
}

}  // namespace attnprof
