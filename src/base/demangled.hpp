// Names of C++ functions for people.
#pragma once

#include <string>

namespace attnprof {

// What c++filt would print; a name that is not mangled as it is.
std::string demangled(const std::string& name);

}  // namespace attnprof
