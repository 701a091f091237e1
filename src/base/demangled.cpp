#include "base/demangled.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace attnprof {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // the demangler takes "m" for a type, unsigned long
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace attnprof
