#include "trace/kernel_name.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"

namespace attnprof {
namespace {

constexpr size_t longest = 80;

// The position of the bracket that opens what ends at `close`, or npos.
size_t opening(const std::string& text, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    const char c = text[i];
    if (c == ')' || c == '>') ++depth;
    if ((c == '(' || c == '<') && --depth == 0) return i;
  }
  return std::string::npos;
}

// "void f<int>(float*)" -> "void f<int>".
std::string without_parameters(const std::string& name) {
  if (name.empty() || name.back() != ')') return name;
  const size_t open = opening(name, name.size() - 1);
  return open == std::string::npos || open == 0 ? name : name.substr(0, open);
}

// "void f<int>" -> "f<int>": what stands before the last space outside brackets. "(anonymous namespace)::" is
// in brackets.
std::string without_return_type(const std::string& name) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' || c == '<') ++depth;
    if (c == ')' || c == '>') --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return begin < name.size() ? name.substr(begin) : name;
}

std::string without_template_arguments(const std::string& name) {
  std::string result;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) result += c;
    if (c == '>' && depth > 0) --depth;
  }
  return result;
}

}  // namespace

std::string short_kernel_name(const std::string& demangled_name) {
  const std::string name = without_return_type(without_parameters(demangled_name));
  if (name.size() <= longest) return name;
  const auto hash = static_cast<uint32_t>(hash64(demangled_name));
  return fmt::format("{}<#{:08x}>", without_template_arguments(name).substr(0, longest), hash);
}

}  // namespace attnprof
