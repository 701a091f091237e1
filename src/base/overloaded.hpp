// One function object out of several, for std::visit: a kind that none of them takes does not compile.
#pragma once

namespace attnprof {

template <class... Functions>
struct overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}  // namespace attnprof
