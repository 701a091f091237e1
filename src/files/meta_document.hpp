// A .meta.json as a document: the one way in which its text is read.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/json_names.hpp"

namespace attnprof {

// An object with an object `runs` of objects. Throws UsageError for what is none, what is nested deeper than
// attnprof writes, and what another schema wrote (row/row_rules.hpp).
OrderedJson parse_meta(const std::string& text, const std::string& file);

// The text of one; what is no UTF-8 is replaced.
std::string meta_text(const OrderedJson& meta);

}  // namespace attnprof
