#include "measure/compile/code_hash.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"
#include "measure/compile/elf_file.hpp"

namespace attnprof {

std::string hash_of_code(std::string_view instructions) { return content_hash(instructions).substr(0, 16); }

std::string code_hash(std::string_view cubin, std::string_view entry) {
  const auto file = ElfFile::read(cubin);
  const ElfSection* code = file ? file->find(fmt::format(".text.{}", entry)) : nullptr;
  return hash_of_code(code ? file->bytes(*code).value_or(cubin) : cubin);
}

}  // namespace attnprof
