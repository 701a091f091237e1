#include "measure/compile/elf_file.hpp"

namespace attnprof {
namespace {

// Numbers that do not fit a header's 16 bits stand in the first entry of the table.
struct TableSize {
  uint64_t sections, names;
};
TableSize table_size(const Elf64_Ehdr& header, const Elf64_Shdr& first) {
  return {header.e_shnum == 0 ? first.sh_size : header.e_shnum,
          header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx};
}

}  // namespace

bool is_elf(std::string_view bytes) { return bytes.starts_with(std::string_view(ELFMAG, SELFMAG)); }

std::optional<ElfFile> ElfFile::read(std::string_view bytes) {
  const auto header = part_at<Elf64_Ehdr>(bytes, 0);
  if (!is_elf(bytes) || !header || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  ElfFile file;
  file.file_ = bytes;
  file.header_ = *header;
  const auto first = part_at<Elf64_Shdr>(bytes, header->e_shoff);
  if (!first) return std::nullopt;
  const TableSize size = table_size(*header, *first);
  if (size.sections > bytes.size() / sizeof(Elf64_Shdr) || size.names >= size.sections) return std::nullopt;
  for (uint64_t i = 0; i < size.sections; ++i) {
    const auto section = part_at<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    file.sections_.push_back({"", *section});
  }
  const ElfSection names = file.sections_[size.names];
  for (ElfSection& section : file.sections_) section.name = file.string_at(names, section.header.sh_name);
  for (size_t i = 0; i < file.sections_.size(); ++i) file.by_name_.try_emplace(file.sections_[i].name, i);
  return file;
}

const ElfSection* ElfFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &sections_[found->second];
}

std::optional<std::string_view> ElfFile::bytes(const ElfSection& section) const {
  if (section.header.sh_type == SHT_NOBITS) return std::string_view();
  const uint64_t offset = section.header.sh_offset, size = section.header.sh_size;
  if (offset > file_.size() || file_.size() - offset < size) return std::nullopt;
  return file_.substr(offset, size);
}

std::string_view ElfFile::string_at(const ElfSection& strings, uint64_t offset) const {
  const std::string_view all = bytes(strings).value_or("");
  if (offset >= all.size()) return "";
  const std::string_view rest = all.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::vector<ElfSymbol> ElfFile::symbols() const {
  std::vector<ElfSymbol> all;
  for (const ElfSection& table : sections_) {
    if (table.header.sh_type != SHT_SYMTAB || table.header.sh_link >= sections_.size()) continue;
    const std::string_view entries = bytes(table).value_or("");
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= entries.size(); at += sizeof(Elf64_Sym)) {
      const Elf64_Sym symbol = *part_at<Elf64_Sym>(entries, at);
      all.push_back({string_at(sections_[table.header.sh_link], symbol.st_name),
                     static_cast<unsigned char>(ELF64_ST_TYPE(symbol.st_info)), symbol.st_other,
                     symbol.st_shndx});
    }
    break;  // one of a file
  }
  return all;
}

}  // namespace attnprof
