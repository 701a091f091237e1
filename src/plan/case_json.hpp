// A case as JSON and back, for the worker's messages.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "schedule/case.hpp"

namespace attnprof {

nlohmann::json to_json(const Case& c);
nlohmann::json problem_to_json(const Problem& problem);
Problem problem_from_json(const nlohmann::json& json);  // throws UsageError, or json::exception

// Throws UsageError naming what is missing, unknown or of the wrong type. The variant is looked up by its
// name.
Case case_from_json(const nlohmann::json& json);

}  // namespace attnprof
