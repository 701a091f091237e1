// What a backend is given and gives, as JSON and back, for the worker's messages.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "measure/backend.hpp"

namespace attnprof {

nlohmann::json to_json(const MeasureOptions& options);
nlohmann::json to_json(const BackendInfo& info);
// {column: cell text} of every cell that is not empty; a group of a row travels as a row with nothing else in
// it.
nlohmann::json cells_to_json(const Row& row);

// All throw UsageError naming what is missing or of the wrong type.
MeasureOptions options_from_json(const nlohmann::json& json);
BackendInfo info_from_json(const nlohmann::json& json);
Row cells_from_json(const nlohmann::json& json);

}  // namespace attnprof
