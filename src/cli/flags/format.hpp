// --format: how what goes to standard output is written.
#pragma once

#include <string>

namespace attnprof {

enum class Format { table, csv, json, markdown };

// `markdown`: whether the command has it. Throws UsageError.
Format parse_format(const std::string& text, bool markdown);

}  // namespace attnprof
