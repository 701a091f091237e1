// A JSON file that a person wrote, with the line that each of its values stands in.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace attnprof {

struct JsonDocument {
  std::string file;
  nlohmann::json root;
  std::map<std::string, size_t> lines;  // from 1, of a value's place: "steps[0].grid[1]"; "" is the whole
};

// Reads a whole file; `text`: its content. Throws UsageError with file and line for what is no JSON (with the
// column too), for a key that is given twice and for brackets 20 deep.
JsonDocument parse_json(const std::string& file, const std::string& text);

// Places of values within the one at `place`.
std::string place_of_key(const std::string& place, std::string_view key);
std::string place_of_element(const std::string& place, size_t index);

}  // namespace attnprof
