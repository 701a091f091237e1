// One value of a JSON file with its path, so that every complaint names the file, the line and the field.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.hpp"
#include "base/json_names.hpp"

namespace attnprof {

class JsonPart {
 public:
  // The whole of a document, which must outlive it.
  explicit JsonPart(const JsonDocument& document) : document_(&document), value_(&document.root) {}

  // UsageError "FILE, line N: PATH: what".
  [[noreturn]] void refuse(const std::string& what) const;

  JsonPart at(std::string_view key) const;  // of an object; refuses where it is missing
  bool has(std::string_view key) const;
  // Refuses where this is no object or has a key that is none of these.
  void expect_keys(std::span<const std::string_view> known) const;
  void expect_keys(std::initializer_list<std::string_view> known) const { expect_keys(std::span(known)); }
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
  std::string word(std::span<const std::string_view> known) const;
  std::string word(std::initializer_list<std::string_view> known) const { return word(std::span(known)); }
  // A name of C: of a macro or a kernel.
  std::string identifier() const;

 private:
  JsonPart(const JsonDocument& document, std::string path, const Json& value)
      : document_(&document), path_(std::move(path)), value_(&value) {}
  std::string shown() const;
  [[noreturn]] void refuse_in_line_of(const std::string& path, const std::string& what) const;

  const JsonDocument* document_;
  std::string path_;  // "steps[0].grid[1]"; empty: the whole
  const Json* value_;
};

}  // namespace attnprof
