// From the text of an option to its value.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace attnprof {

// The value of a word out of a closed list.
template <class T>
T choice(std::string_view option, std::string_view text,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
  std::string known;
  for (const auto& [word, value] : choices) {
    if (word == text) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  throw UsageError(fmt::format("{} '{}' is none of {}", option, text, known));
}

// These throw UsageError too.
int64_t whole_number(std::string_view option, std::string_view text, int64_t largest);
int device_number(const std::string& text);  // of --device
void refuse_both(bool both, const char* a, const char* b);

}  // namespace attnprof
