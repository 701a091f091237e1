// The rules of a variant file: whole numbers worked out from a case, such as "ceil(q_len / br)".
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }          "/" rounds down
//   factor  = number | name | "(" sum ")"
//           | "ceil(" sum "/" factor ")" | "ceil(" sum "," sum ")"    the quotient, rounded up
//           | "min(" sum "," sum ")" | "max(" sum "," sum ")"
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// What a rule may name, and its value in one case.
struct RuleValue {
  std::string_view name;
  int64_t value = 0;
};

// Why a text is no rule, or why a rule has no value in a case: the end of a sentence that begins with where
// it stands.
struct RuleError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Rule {
 public:
  // `names`: what it may name, in the order in which value() is given their values. Throws RuleError.
  Rule(std::string text, std::span<const std::string_view> names);
  // The same number always.
  explicit Rule(int64_t number);

  // Throws RuleError: a division by zero, a negative result, or one beyond 64 bits.
  int64_t value(std::span<const RuleValue> values) const;
  const std::string& text() const { return text_; }

  enum class Kind { number, name, add, subtract, multiply, divide, ceil, min, max };
  struct Operation {
    Kind kind;
    int64_t operand = 0;  // a number, or a name's position
  };

 private:
  std::string text_;
  std::vector<Operation> operations_;  // in postfix order
};

}  // namespace attnprof
