#include "measure/compile/code_hash.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/hash.hpp"

namespace attnprof {
namespace {

// A copy of the `Part` at `offset`, as the file may be cut short or unaligned.
template <class Part>
std::optional<Part> part_at(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(Part)) return std::nullopt;
  Part part;
  std::memcpy(&part, file.data() + offset, sizeof part);
  return part;
}

std::optional<std::string_view> bytes_of(std::string_view file, const Elf64_Shdr& section) {
  if (section.sh_offset > file.size() || file.size() - section.sh_offset < section.sh_size)
    return std::nullopt;
  return file.substr(section.sh_offset, section.sh_size);
}

// The content of the section called `wanted`.
std::optional<std::string_view> elf_section(std::string_view file, std::string_view wanted) {
  const auto header = part_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const auto section = [&](unsigned index) {
    return part_at<Elf64_Shdr>(file, header->e_shoff + uint64_t{index} * header->e_shentsize);
  };
  const auto names_section = section(header->e_shstrndx);
  const auto names = names_section ? bytes_of(file, *names_section) : std::nullopt;
  if (!names) return std::nullopt;
  for (unsigned index = 0; index < header->e_shnum; ++index) {
    const auto candidate = section(index);
    if (!candidate || candidate->sh_name >= names->size()) continue;
    const std::string_view rest = names->substr(candidate->sh_name);
    if (rest.substr(0, rest.find('\0')) == wanted) return bytes_of(file, *candidate);
  }
  return std::nullopt;
}

}  // namespace

std::string code_hash(std::string_view cubin, std::string_view entry) {
  const auto code = elf_section(cubin, fmt::format(".text.{}", entry));
  return content_hash(code.value_or(cubin)).substr(0, 16);
}

}  // namespace attnprof
