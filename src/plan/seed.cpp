#include "plan/seed.hpp"

#include <string>

#include "base/hash.hpp"

namespace attnprof {

uint64_t case_seed(const Case& c, uint64_t sweep_seed) {
  const std::string text = describe(c) + " " + to_string(c.requested.knobs);
  return hash64(text, sweep_seed);
}

}  // namespace attnprof
