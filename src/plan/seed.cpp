#include "plan/seed.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>

namespace attnprof {

uint64_t case_seed(const Case& c, uint64_t sweep_seed) {
  const std::string text = describe(c) + " " + to_string(c.requested.knobs);
  return XXH3_64bits_withSeed(text.data(), text.size(), sweep_seed);
}

}  // namespace attnprof
