// Every flag of a row by its name.
#pragma once

#include <span>
#include <string_view>

namespace attnprof {

std::span<const std::string_view> flag_names();  // in the order of Flag (schema.hpp)

}  // namespace attnprof
