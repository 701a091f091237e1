// Points and roofs as JSON objects; what roofline_json and roofline_vega_lite share.
#pragma once

#include <nlohmann/json.hpp>

#include "draw/roofline_data.hpp"

namespace attnprof {

// An object a record, its keys `names`; columns that are empty in all records are left out.
nlohmann::ordered_json records_json(const std::vector<std::string_view>& names,
                                    const std::vector<DataRecord>& records);

}  // namespace attnprof
