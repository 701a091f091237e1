// JSON as it is read (keys in any order), and as it is written (keys in the order in which they were added).
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace attnprof {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

}  // namespace attnprof
