// A JSON file that a person wrote, with the line that each of its values, or its key, stands in.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace attnprof {

struct JsonDocument {
  std::string file;
  nlohmann::json root;
  // From 1, by a value's path, "steps[0].grid[1]"; "" is the whole. In an object it is the key's line.
  std::map<std::string, size_t> lines;
};

// Reads a whole file; `text`: its content. Throws UsageError with file and line for what is no JSON (with the
// column too), for a key that is given twice and for more than 20 open brackets.
JsonDocument parse_json(const std::string& file, const std::string& text);

// Paths of values within the one at `path`.
std::string path_of_key(const std::string& path, std::string_view key);
std::string path_of_element(const std::string& path, size_t index);

}  // namespace attnprof
