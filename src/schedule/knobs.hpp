// A variant's own settings beside its tile, such as the stages of a copy pipeline: what there is, and values.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace attnprof {

// A setting that a variant has. A case that does not ask for a value leaves it to the variant, which decides
// by problem, tile and device.
struct Knob {
  std::string_view name;
  std::string_view meaning;  // for `list`
  int lowest = 0, highest = 0;
  int step = 1;  // between values

  constexpr bool takes(int64_t value) const {
    return value >= lowest && value <= highest && (value - lowest) % step == 0;
  }
};
std::string values_text(const Knob& knob);  // "1 to 4", "16 or 32", "32 to 256 in steps of 32"

// Knobs with values, in the order of Variant::knobs. An absent knob is the variant's to decide. Names point
// into a Variant, which lives as long as the program.
class Knobs {
 public:
  struct Value {
    std::string_view name;
    int value = 0;
    bool operator==(const Value&) const = default;
  };
  static constexpr size_t capacity = 8;

  constexpr Knobs() = default;
  constexpr Knobs(std::initializer_list<Value> values) {
    for (const Value& each : values) set(each.name, each.value);
  }

  constexpr std::optional<int> get(std::string_view name) const {
    for (const Value& each : *this)
      if (each.name == name) return each.value;
    return std::nullopt;
  }
  // Replaces the value of a knob that is there, else adds it at the end.
  constexpr void set(std::string_view name, int value) {
    for (size_t i = 0; i < size_; ++i)
      if (values_[i].name == name) {
        values_[i].value = value;
        return;
      }
    if (size_ == capacity) throw std::length_error("a variant has at most 8 knobs");
    values_[size_++] = {name, value};
  }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const Value* begin() const { return values_.data(); }
  constexpr const Value* end() const { return values_.data() + size_; }
  bool operator==(const Knobs&) const = default;

 private:
  std::array<Value, capacity> values_{};
  size_t size_ = 0;
};
std::string to_string(const Knobs& knobs);  // "stages=2;warp_rows=32", "-" for none

}  // namespace attnprof
