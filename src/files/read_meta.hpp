// The .meta.json beside a CSV.
#pragma once

#include <optional>
#include <string>

namespace attnprof {

// Its text; nothing when it is missing. Throws UsageError when it is there and cannot be read.
std::optional<std::string> meta_beside(const std::string& csv_path);

}  // namespace attnprof
