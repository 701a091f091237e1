#include "trace/pattern.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <array>

#include "base/error.hpp"

namespace attnprof {

struct Pattern::Compiled {
  regex_t expression{};
  Compiled() = default;
  ~Compiled() { regfree(&expression); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
};

Pattern::Pattern(std::string_view option, const std::string& expression) {
  if (expression.empty()) return;
  regex_t compiled{};
  if (const int error = regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB); error != 0) {
    std::array<char, 200> why{};
    regerror(error, &compiled, why.data(), why.size());
    throw UsageError(
        fmt::format("{} '{}' is no extended regular expression: {}", option, expression, why.data()));
  }
  auto owned = std::make_shared<Compiled>();
  owned->expression = compiled;
  compiled_ = std::move(owned);
}

bool Pattern::matches(const std::string& text) const {
  return !compiled_ || regexec(&compiled_->expression, text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace attnprof
