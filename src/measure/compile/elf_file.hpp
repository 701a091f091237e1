// Sections and symbols of a 64-bit ELF file, such as a cubin or a library: read in place, from what may be
// cut short or be no ELF file at all.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attnprof {

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header;
};

struct ElfSymbol {
  std::string_view name;
  unsigned char type, other;  // STT_FUNC ...; st_other
  uint16_t section;           // SHN_UNDEF: it is defined elsewhere
};

bool is_elf(std::string_view bytes);

class ElfFile {
 public:
  // Nothing when it is none, or its table of sections lies beyond its end. `bytes` must outlive it.
  static std::optional<ElfFile> read(std::string_view bytes);

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const ElfSection* find(std::string_view name) const;  // null if there is none
  // Nothing when it lies beyond the end of the file; empty of a section that takes no room in it.
  std::optional<std::string_view> bytes(const ElfSection& section) const;
  std::vector<ElfSymbol> symbols() const;  // in the order of their numbers; without a table none

 private:
  ElfFile() = default;
  std::string_view string_at(const ElfSection& strings, uint64_t offset) const;

  std::string_view file_;
  Elf64_Ehdr header_ = {};
  std::vector<ElfSection> sections_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

// A copy of the `Part` at `offset` of bytes that may be cut short or unaligned.
template <class Part>
std::optional<Part> part_at(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Part)) return std::nullopt;
  Part part;
  std::memcpy(&part, bytes.data() + offset, sizeof part);
  return part;
}

}  // namespace attnprof
