#include "measure/compile/device_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.hpp"
#include "measure/compile/cubin.hpp"
#include "measure/compile/decompress.hpp"
#include "measure/compile/elf_file.hpp"

namespace attnprof {
namespace {

// A fatbin: this, and entries one behind the other. Not documented; as fatbinary writes them.
struct FatbinHeader {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size;  // of all entries
};
constexpr uint32_t fatbin_magic = 0xba55ed50;

struct EntryHeader {
  uint16_t kind, version;
  uint32_t header_size;
  uint64_t size;  // with what fills it up
  uint32_t compressed_size, unused;
  uint16_t minor, major;
  uint32_t arch;
  uint64_t name;
  uint64_t flags;
  uint64_t reserved;
  uint64_t uncompressed_size;
};
constexpr uint16_t ptx_entry = 1, cubin_entry = 2;
constexpr uint64_t lz4_flag = 0x2000, zstd_flag = 0x8000;
constexpr size_t least_entry_header = offsetof(EntryHeader, name);  // of older ones the rest may be missing

constexpr std::string_view archive_magic = "!<arch>\n";

class Walk {
 public:
  Walk(const std::string& where, const std::function<void(std::string_view)>& visit)
      : where_(where), visit_(visit) {}

  void file(std::string_view bytes) {
    if (is_cubin(bytes))
      cubin(bytes);
    else if (is_elf(bytes))
      host_file(bytes);
    else if (bytes.starts_with(archive_magic))
      archive(bytes);
    else if (part_at<uint32_t>(bytes, 0) == fatbin_magic)
      fatbins(bytes);
    else
      refuse("it is no cubin, fatbin, object file, library or executable; give one of these");
  }

  DeviceCode found() const { return found_; }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw UsageError(fmt::format("{}: {}", where_, what));
  }
  [[noreturn]] void refuse_cut_short() const { refuse("it is cut short or damaged; build it again"); }

  void cubin(std::string_view bytes) {
    ++found_.cubins;
    visit_(bytes);
  }

  void host_file(std::string_view bytes) {
    const auto elf = ElfFile::read(bytes);
    if (!elf) refuse_cut_short();
    for (const ElfSection& section : elf->sections()) {
      if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
      const auto content = elf->bytes(section);
      if (!content) refuse_cut_short();
      fatbins(*content);
    }
  }

  // One behind the other, with zeros between.
  void fatbins(std::string_view bytes) {
    for (size_t at = 0; at + sizeof(FatbinHeader) <= bytes.size();) {
      const FatbinHeader header = *part_at<FatbinHeader>(bytes, at);
      if (header.magic != fatbin_magic) {
        at += 8;
        continue;
      }
      const size_t room = bytes.size() - at;
      if (header.header_size < sizeof header || header.header_size > room ||
          header.size > room - header.header_size)
        refuse_cut_short();
      entries(bytes.substr(at + header.header_size, header.size));
      at += header.header_size + header.size;
    }
  }

  void entries(std::string_view bytes) {
    while (bytes.size() >= least_entry_header) {
      EntryHeader header = {};
      std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
      if (header.header_size < least_entry_header || header.header_size > bytes.size() ||
          header.size > bytes.size() - header.header_size)
        refuse_cut_short();
      if (header.header_size < sizeof header) header.uncompressed_size = 0;
      entry(header, bytes.substr(header.header_size, header.size));
      bytes.remove_prefix(header.header_size + header.size);
    }
  }

  void entry(const EntryHeader& header, std::string_view content) {
    if (header.kind == ptx_entry) ++found_.ptx;
    if (header.kind != cubin_entry) return;
    const bool lz4 = header.flags & lz4_flag, zstd = header.flags & zstd_flag;
    if (!lz4 && !zstd) return cubin(content);
    if (header.compressed_size > content.size()) refuse_cut_short();
    const std::string_view compressed = content.substr(0, header.compressed_size);
    cubin(decompress(zstd ? Compression::zstd : Compression::lz4, compressed, header.uncompressed_size,
                     where_));
  }

  // Members one behind the other, each after 60 bytes of which ten say its size; at even places.
  void archive(std::string_view bytes) {
    constexpr size_t member_header = 60, size_at = 48, size_digits = 10;
    for (size_t at = archive_magic.size(); at + member_header <= bytes.size();) {
      const char* digits = bytes.data() + at + size_at;
      size_t size = 0;
      const bool number = std::from_chars(digits, digits + size_digits, size).ec == std::errc{};
      at += member_header;
      if (!number || size > bytes.size() - at) refuse_cut_short();
      const std::string_view member = bytes.substr(at, size);
      if (is_elf(member)) file(member);
      at += size + size % 2;
    }
  }

  const std::string& where_;
  const std::function<void(std::string_view)>& visit_;
  DeviceCode found_;
};

}  // namespace

DeviceCode for_each_cubin(std::string_view file, const std::string& where,
                          const std::function<void(std::string_view cubin)>& visit) {
  Walk walk(where, visit);
  walk.file(file);
  return walk.found();
}

}  // namespace attnprof
