#include "measure/compile/ptxas_report.hpp"

#include <cctype>
#include <sstream>

namespace attnprof {
namespace {

// The integer just before `what`: 96 in "Used 96 registers, used 1 barriers"; 0 when `what` is not there.
int64_t number_before(const std::string& line, const std::string& what) {
  const size_t end = line.find(" " + what);
  if (end == std::string::npos) return 0;
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
  return begin == end ? 0 : std::stoll(line.substr(begin, end - begin));
}

}  // namespace

std::optional<PtxasReport> parse_ptxas(const std::string& log, const std::string& entry) {
  std::istringstream lines(log);
  PtxasReport report;
  bool in_entry = false;        // between "Compiling entry function 'entry'" and the next one
  bool own_properties = false;  // the next line is the entry's own stack and spills, not a callee's
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Compiling entry function '") != std::string::npos) {
      in_entry = line.find("'" + entry + "'") != std::string::npos;
    } else if (const size_t at = line.find("Function properties for "); at != std::string::npos) {
      own_properties = in_entry && line.substr(at + 24) == entry;
    } else if (own_properties && line.find("bytes stack frame") != std::string::npos) {
      report.stack_bytes = number_before(line, "bytes stack frame");
      report.spill_store_bytes = number_before(line, "bytes spill stores");
      report.spill_load_bytes = number_before(line, "bytes spill loads");
      own_properties = false;
    } else if (in_entry && line.find("Used ") != std::string::npos) {
      report.registers = static_cast<int>(number_before(line, "registers"));
      report.static_smem_bytes = number_before(line, "bytes smem");
      found = true;
    }
  }
  return found ? std::optional(report) : std::nullopt;
}

std::string first_error_line(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

}  // namespace attnprof
