// The one hash of the program (XXH3), as a number and as hexadecimal text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnprof {

uint64_t hash64(std::string_view bytes, uint64_t seed = 0);

// hash64 as 16 hexadecimal digits: names of runs, plans and environments.
std::string hash_text(std::string_view text);

// 128 bits, 32 hexadecimal digits: contents that must not be taken for one another.
std::string content_hash(std::string_view bytes);

}  // namespace attnprof
