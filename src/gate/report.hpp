// The outcome of a gate in the forms that people and CI systems read.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>

#include "base/error.hpp"
#include "gate/causes.hpp"

namespace attnprof {

// Of GitHub's job summary, bytes a step.
inline constexpr size_t job_summary_limit = 1 << 20;

// "gate failed: 1 of 7 rows worse, 6 the same; 42 values compared": the answer, without a line end.
std::string gate_summary(const GateReport& report);

// The answer, a line a cause, what all rows share, warnings, and what to do.
std::string gate_text(const GateReport& report, bool color = false);
// GitHub-flavoured: the answer, the causes, the rows that changed most, and folded all rows that fit; well
// below `room` bytes.
std::string gate_markdown(const GateReport& report, size_t room = job_summary_limit);
// One test case a row of either file.
void write_gate_junit(std::ostream& stream, const GateReport& report);
// Everything: every row with every compared value, written row by row, since a million do not fit memory.
void write_gate_json(std::ostream& stream, const GateReport& report);
// GitHub's workflow commands, a line a cause, no more than it shows of a step; `file`s are relative to
// `workspace`, the folder of the repository, outside of which none is named.
std::string gate_annotations(const GateReport& report, const std::string& workspace);

// Of a gate that could not decide.
std::string gate_error_markdown(const Error& error);
std::string gate_error_junit(const Error& error);
std::string gate_error_json(const Error& error);
std::string gate_error_annotation(const Error& error);

}  // namespace attnprof
