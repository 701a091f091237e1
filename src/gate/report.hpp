// The outcome of a gate in the forms that people and CI systems read.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

// What differs between the files, worst first.
struct GateLine {
  std::string verdict;  // worse, missing, ...
  std::string what;     // hbm_bytes 134 MB -> 137 MB (+2.00 %, more than 1 % and 524 kB)
  std::string row;
};
std::vector<GateLine> gate_lines(const GateResult& result, size_t most);
size_t gate_line_count(const GateResult& result);

// hbm_bytes 134 MB -> 137 MB (+2.00 %, ...).
std::string describe_change(const GateResult& result, const Comparison& comparison);

// "gate: failed: 1 worse, ..." without a line end, and what to do.
std::string gate_summary(const GateResult& result);

// Warnings, what differs, the summary; at most `most` lines of differences.
std::string gate_text(const GateResult& result, size_t most = 200);
// GitHub-flavoured, below a job summary's limit of 1 MiB.
std::string gate_markdown(const GateResult& result);
// One test case a row of either file.
void write_gate_junit(std::ostream& stream, const GateResult& result, const GateOptions& options);
// Everything: every row with every compared value, written row by row, since a million do not fit memory.
void write_gate_json(std::ostream& stream, const GateResult& result, const GateOptions& options);

// Of a gate that could not decide.
std::string gate_error_markdown(const Error& error);
std::string gate_error_junit(const Error& error);
std::string gate_error_json(const Error& error);

}  // namespace attnprof
