#include "measure/compile/decompress.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/error.hpp"

namespace attnprof {
namespace {

constexpr uint64_t largest = uint64_t{1} << 30, largest_ratio = 10'000;

void* function_of(const char* library, const char* package, const char* function, const std::string& where) {
  void* handle = dlopen(library, RTLD_NOW);
  void* found = handle ? dlsym(handle, function) : nullptr;
  if (!found)
    throw EnvironmentError(fmt::format(
        "{}: its device code is compressed, and {} is not there; install it (on Debian and Ubuntu {})", where,
        library, package));
  return found;
}

// How many bytes were written; another number than expected where something is wrong.
uint64_t by_lz4(std::string_view bytes, std::string& out, const std::string& where) {
  using Function = int (*)(const char*, char*, int, int);
  const auto decompress_safe =
      reinterpret_cast<Function>(function_of("liblz4.so.1", "liblz4-1", "LZ4_decompress_safe", where));
  const int written =
      decompress_safe(bytes.data(), out.data(), static_cast<int>(bytes.size()), static_cast<int>(out.size()));
  return written < 0 ? 0 : static_cast<uint64_t>(written);
}

uint64_t by_zstd(std::string_view bytes, std::string& out, const std::string& where) {
  using Function = size_t (*)(void*, size_t, const void*, size_t);
  const auto zstd_decompress =
      reinterpret_cast<Function>(function_of("libzstd.so.1", "libzstd1", "ZSTD_decompress", where));
  return zstd_decompress(out.data(), out.size(), bytes.data(), bytes.size());  // an error is a huge number
}

}  // namespace

std::string decompress(Compression compression, std::string_view bytes, uint64_t uncompressed_size,
                       const std::string& where) {
  const bool believable = uncompressed_size > 0 && uncompressed_size <= largest && bytes.size() <= largest &&
                          uncompressed_size / largest_ratio <= bytes.size();
  if (believable) {
    std::string out(uncompressed_size, '\0');
    const uint64_t written =
        compression == Compression::lz4 ? by_lz4(bytes, out, where) : by_zstd(bytes, out, where);
    if (written == uncompressed_size) return out;
  }
  throw UsageError(fmt::format("{}: its compressed device code is damaged; build it again", where));
}

}  // namespace attnprof
