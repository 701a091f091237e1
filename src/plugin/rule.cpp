#include "plugin/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace attnprof {
namespace {

using Kind = Rule::Kind;
using Operation = Rule::Operation;

constexpr size_t longest_text = 500;
constexpr int deepest = 50;  // parentheses within parentheses

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
 public:
  Parser(std::string_view text, std::span<const std::string_view> names) : text_(text), names_(names) {}

  std::vector<Operation> parse() {
    if (text_.size() > longest_text)
      throw RuleError(fmt::format("a rule has at most {} characters", longest_text));
    sum();
    if (!at_end()) expected("an operator or the end");
    return std::move(operations_);
  }

 private:
  void sum() {
    product();
    for (;;) {
      if (take('+'))
        binary(Kind::add, [this] { product(); });
      else if (take('-'))
        binary(Kind::subtract, [this] { product(); });
      else
        return;
    }
  }

  void product() {
    factor();
    for (;;) {
      if (take('*'))
        binary(Kind::multiply, [this] { factor(); });
      else if (take('/'))
        binary(Kind::divide, [this] { factor(); });
      else
        return;
    }
  }

  template <class Right>
  void binary(Kind kind, Right right) {
    right();
    operations_.push_back({kind});
  }

  void factor() {
    if (++depth_ > deepest)
      throw RuleError(fmt::format("more than {} parentheses are open at once", deepest));
    skip_spaces();
    if (take('(')) {
      sum();
      require(')');
    } else if (!at_end() && is_digit(text_[at_])) {
      number();
    } else if (!at_end() && is_letter(text_[at_])) {
      word();
    } else {
      expected("a number, a name or '('");
    }
    --depth_;
  }

  void number() {
    int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) throw RuleError(fmt::format("a number at character {} is too large", at_ + 1));
    at_ += static_cast<size_t>(end - begin);
    operations_.push_back({Kind::number, value});
  }

  void word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (take('(')) return call(name);
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end())
      throw RuleError(fmt::format("'{}' is none of {}", name, fmt::join(names_, ", ")));
    operations_.push_back({Kind::name, found - names_.begin()});
  }

  void call(std::string_view function) {
    const bool ceil = function == "ceil";
    if (!ceil && function != "min" && function != "max")
      throw RuleError(fmt::format("'{}' is none of the functions ceil, min, max", function));
    sum();
    if (ceil && take(')')) {  // ceil(a / b)
      if (operations_.back().kind != Kind::divide)
        throw RuleError("ceil takes a quotient, as in ceil(a / b) or ceil(a, b)");
      operations_.back().kind = Kind::ceil;
      return;
    }
    require(',');
    sum();
    require(')');
    operations_.push_back({ceil ? Kind::ceil : function == "min" ? Kind::min : Kind::max});
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }
  bool take(char c) {
    const bool found = !at_end() && text_[at_] == c;
    if (found) ++at_;
    return found;
  }
  void require(char c) {
    if (!take(c)) expected(fmt::format("'{}'", c));
  }
  [[noreturn]] void expected(const std::string& what) {
    const std::string found = at_end() ? "it ends" : fmt::format("there is '{}'", text_[at_]);
    throw RuleError(fmt::format("where {} is expected, at character {}, {}", what, at_ + 1, found));
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::vector<Operation> operations_;
  size_t at_ = 0;
  int depth_ = 0;
};

[[noreturn]] void too_large() { throw RuleError("the value does not fit 64 bits"); }

int64_t quotient(int64_t a, int64_t b, bool up) {
  if (b == 0) throw RuleError("it divides by zero");
  if (a < 0 || b < 0) throw RuleError(fmt::format("it divides {} by {}, and one is negative", a, b));
  return a / b + (up && a % b != 0 ? 1 : 0);
}

int64_t apply(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
    case Kind::add:
      if (__builtin_add_overflow(a, b, &result)) too_large();
      return result;
    case Kind::subtract:
      if (__builtin_sub_overflow(a, b, &result)) too_large();
      return result;
    case Kind::multiply:
      if (__builtin_mul_overflow(a, b, &result)) too_large();
      return result;
    case Kind::divide:
      return quotient(a, b, false);
    case Kind::ceil:
      return quotient(a, b, true);
    case Kind::min:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

}  // namespace

Rule::Rule(std::string text, std::span<const std::string_view> names)
    : text_(std::move(text)), operations_(Parser(text_, names).parse()) {}

Rule::Rule(int64_t number) : text_(fmt::format("{}", number)), operations_{{Kind::number, number}} {}

int64_t Rule::value(std::span<const RuleValue> values) const {
  std::vector<int64_t> stack;
  for (const Operation& operation : operations_) {
    if (operation.kind == Kind::number) {
      stack.push_back(operation.operand);
    } else if (operation.kind == Kind::name) {
      stack.push_back(values[static_cast<size_t>(operation.operand)].value);
    } else {
      const int64_t right = stack.back();
      stack.pop_back();
      stack.back() = apply(operation.kind, stack.back(), right);
    }
  }
  if (stack.back() < 0) throw RuleError(fmt::format("its value is {}, which is negative", stack.back()));
  return stack.back();
}

}  // namespace attnprof
