// Rows as JSON: an array of objects, numbers as numbers, absent values as null.
#pragma once

#include <string>
#include <vector>

#include "row/row.hpp"
#include "row/schema.hpp"

namespace attnprof {

std::string rows_as_json(const std::vector<Row>& rows, const std::vector<const Column*>& columns);

}  // namespace attnprof
