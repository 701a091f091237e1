// A regular expression that users give: POSIX extended, searched for anywhere in a text. Not std::regex,
// which recurses a stack frame a character: names of templates have thousands, and the stack is the traced
// program's.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace attnprof {

class Pattern {
 public:
  // An empty one matches everything. Throws UsageError naming `option` for what is no expression.
  Pattern(std::string_view option, const std::string& expression);
  bool matches(const std::string& text) const;
  bool empty() const { return !compiled_; }

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace attnprof
