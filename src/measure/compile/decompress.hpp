// Device code that the compiler has compressed. Neither library is part of the program: each is opened where
// a machine has it, as nearly all do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnprof {

enum class Compression { lz4, zstd };

// Throws UsageError for what is damaged, EnvironmentError where the library is missing; each begins with
// `where`.
std::string decompress(Compression compression, std::string_view bytes, uint64_t uncompressed_size,
                       const std::string& where);

}  // namespace attnprof
