// One value of a JSON file with its place, so that every complaint names the file and the field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

class JsonPart {
 public:
  using Json = nlohmann::json;

  // Reads a whole file; `text`: its content. Throws UsageError with file, line and column for what is no
  // JSON, and with the key for one that is given twice. `root` is where the tree is kept.
  static JsonPart parse(const std::string& file, const std::string& text, Json& root);

  // UsageError "FILE: PLACE: what".
  [[noreturn]] void refuse(const std::string& what) const;

  JsonPart at(std::string_view key) const;  // of an object; refuses where it is missing
  bool has(std::string_view key) const;
  // Refuses where this is no object or has a key that is none of these.
  void expect_keys(std::initializer_list<std::string_view> known) const;
  std::vector<std::string> keys() const;
  // Of a list with at least one element.
  std::vector<JsonPart> elements() const;

  bool is_string() const { return value_->is_string(); }
  bool is_object() const { return value_->is_object(); }
  bool is_list() const { return value_->is_array(); }
  std::string text() const;  // not empty, one line
  bool boolean() const;
  int64_t integer(int64_t low, int64_t high) const;
  // The text, which must be one of these.
  std::string word(std::initializer_list<std::string_view> known) const;
  // A name of C: of a macro or a kernel.
  std::string identifier() const;

 private:
  JsonPart(const std::string& file, std::string place, const Json& value)
      : file_(&file), place_(std::move(place)), value_(&value) {}
  std::string shown() const;

  const std::string* file_;
  std::string place_;  // "steps[0].grid[1]"; empty: the whole
  const Json* value_;
};

}  // namespace attnprof
