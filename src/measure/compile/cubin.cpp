#include "measure/compile/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/demangled.hpp"
#include "base/error.hpp"
#include "measure/compile/code_hash.hpp"
#include "measure/compile/elf_file.hpp"
#include "measure/compile/toolchain.hpp"

namespace attnprof {
namespace {

constexpr int cuda_machine = 190;           // EM_CUDA
constexpr int abi_of_wide_numbers = 8;      // from which on bits 8 to 15 of the flags are the architecture
constexpr unsigned char entry_flag = 0x10;  // of a symbol: a kernel, no function that kernels call
constexpr int64_t reserved_smem_bytes = 1024;

// Attributes of .nv.info sections, by cuobjdump's names: EIATTR_...
enum Attribute : uint8_t {
  max_threads = 0x05,
  required_threads = 0x10,
  frame_size = 0x11,
  min_stack_size = 0x12,
  register_count = 0x2f,
};
constexpr uint8_t sized_value = 4;  // format: a size and so many bytes; all others take four bytes in all

// Calls visit(attribute, bytes) for those with a value of a size of its own.
template <class Visit>
void for_each_attribute(std::string_view info, Visit visit) {
  for (size_t at = 0; at + 4 <= info.size();) {
    const auto format = static_cast<uint8_t>(info[at]), attribute = static_cast<uint8_t>(info[at + 1]);
    const uint16_t size = format == sized_value ? *part_at<uint16_t>(info, at + 2) : 0;
    if (format == sized_value) visit(attribute, info.substr(at + 4, size));
    at += 4 + size_t{size};
  }
}

// Of functions by the number of their symbol.
struct FunctionFacts {
  std::optional<uint32_t> registers, frame, stack;
};

std::map<uint32_t, FunctionFacts> function_facts(std::string_view info) {
  std::map<uint32_t, FunctionFacts> facts;
  for_each_attribute(info, [&](uint8_t attribute, std::string_view value) {
    const auto symbol = part_at<uint32_t>(value, 0), amount = part_at<uint32_t>(value, 4);
    if (!symbol || !amount) return;
    if (attribute == register_count) facts[*symbol].registers = *amount;
    if (attribute == frame_size) facts[*symbol].frame = *amount;
    if (attribute == min_stack_size) facts[*symbol].stack = *amount;
  });
  return facts;
}

std::optional<int> most_threads_of(std::string_view info) {
  std::optional<int> most;
  for_each_attribute(info, [&](uint8_t attribute, std::string_view value) {
    if (attribute != max_threads && attribute != required_threads) return;
    const auto x = part_at<uint32_t>(value, 0), y = part_at<uint32_t>(value, 4),
               z = part_at<uint32_t>(value, 8);
    if (x && y && z && *x > 0 && *x <= 1024 && *y > 0 && *y <= 1024 && *z > 0 && *z <= 64)
      most = static_cast<int>(std::min<uint64_t>(uint64_t{*x} * *y * *z, 1024));
  });
  return most;
}

class CubinReader {
 public:
  CubinReader(const ElfFile& file, const std::string& where) : file_(file), where_(where) {}

  Cubin read() {
    Cubin cubin{.arch = arch(), .compiler = parse_nvcc_version(std::string(tool_note())), .kernels = {}};
    const auto facts = function_facts(content(".nv.info"));
    const std::vector<ElfSymbol> symbols = file_.symbols();
    reserved_ = std::ranges::any_of(
        symbols, [](const ElfSymbol& symbol) { return symbol.name.starts_with(".nv.reservedSmem"); });
    sum_constants();
    for (size_t i = 0; i < symbols.size(); ++i) {
      const ElfSymbol& symbol = symbols[i];
      if (symbol.type != STT_FUNC || !(symbol.other & entry_flag) || symbol.section == SHN_UNDEF) continue;
      const auto found = facts.find(static_cast<uint32_t>(i));
      cubin.kernels.push_back(kernel(symbol.name, found == facts.end() ? FunctionFacts{} : found->second));
    }
    return cubin;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw UsageError(fmt::format("{}: {}; build it again", where_, what));
  }

  // Empty where there is no such section.
  std::string_view content(std::string_view section) const {
    const ElfSection* found = file_.find(section);
    if (!found) return "";
    const auto bytes = file_.bytes(*found);
    if (!bytes) refuse(fmt::format("its section {} lies beyond its end", section));
    return *bytes;
  }

  int64_t size_of(const ElfSection& section) const {
    constexpr uint64_t largest_section = 1 << 30;
    if (section.header.sh_size > largest_section)
      refuse(fmt::format("its section {} is {} bytes large", section.name, section.header.sh_size));
    return static_cast<int64_t>(section.header.sh_size);
  }

  std::string_view tool_note() const { return content(".note.nv.tkinfo"); }

  // The flags say a number, and the command line in the note whether with an a or f.
  std::string arch() const {
    const Elf64_Ehdr& header = file_.header();
    const bool wide = header.e_ident[EI_ABIVERSION] >= abi_of_wide_numbers;
    const std::string name = fmt::format("sm_{}", (wide ? header.e_flags >> 8 : header.e_flags) & 0xff);
    const std::string_view note = tool_note();
    const size_t at = note.find(name);
    const char next =
        at != std::string_view::npos && at + name.size() < note.size() ? note[at + name.size()] : ' ';
    return next == 'a' || next == 'f' ? name + next : name;
  }

  CubinKernel kernel(std::string_view name, const FunctionFacts& facts) const {
    const ElfSection* code = file_.find(fmt::format(".text.{}", name));
    if (!code) refuse(fmt::format("its kernel {} has no code", name));
    const std::string_view instructions = content(code->name);
    // Older files have the registers in the upper bits of the section's info.
    const uint32_t registers = facts.registers.value_or(code->header.sh_info >> 24);
    constexpr uint32_t most_registers = 1024, unknown_stack = 0xffffffff;  // of what calls itself
    if (registers > most_registers) refuse(fmt::format("its kernel {} has {} registers", name, registers));
    const uint32_t frame = facts.frame.value_or(0), stack = facts.stack.value_or(0);
    return {.name = std::string(name),
            .registers = static_cast<int>(registers),
            .stack_bytes = std::max(frame, stack == unknown_stack ? 0 : stack),
            .smem_bytes = smem(name),
            .constant_bytes = constants(name),
            .most_threads = most_threads_of(content(fmt::format(".nv.info.{}", name))),
            .code_hash = hash_of_code(instructions)};
  }

  // From sm_90 on a kernel's section begins with what the system keeps for itself in every block.
  int64_t smem(std::string_view name) const {
    const ElfSection* found = file_.find(fmt::format(".nv.shared.{}", name));
    const int64_t size = found ? size_of(*found) : 0;
    return reserved_ && size >= reserved_smem_bytes ? size - reserved_smem_bytes : size;
  }

  // Sections .nv.constant0.KERNEL, .nv.constant2.KERNEL ...
  void sum_constants() {
    constexpr std::string_view prefix = ".nv.constant";
    for (const ElfSection& section : file_.sections()) {
      if (!section.name.starts_with(prefix)) continue;
      const size_t dot = section.name.find('.', prefix.size());
      if (dot != std::string_view::npos) constants_[section.name.substr(dot + 1)] += size_of(section);
    }
  }
  int64_t constants(std::string_view name) const {
    const auto found = constants_.find(name);
    return found == constants_.end() ? 0 : found->second;
  }

  const ElfFile& file_;
  const std::string& where_;
  bool reserved_ = false;
  std::map<std::string_view, int64_t> constants_;
};

// "__nv_static_27__cb272044_7_anon_cu__Z2goPf__Z5fixedPf" of a relocatable object: a mark of so many
// characters, then the name.
std::string_view without_static_mark(std::string_view name) {
  constexpr std::string_view prefix = "__nv_static_";
  if (!name.starts_with(prefix)) return name;
  const std::string_view rest = name.substr(prefix.size());
  size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  const auto mark = static_cast<size_t>(end - rest.data()) + 1;  // behind the _
  if (error != std::errc{} || length > rest.size() || mark + length + 1 >= rest.size()) return name;
  return rest.substr(mark + length + 1);
}

}  // namespace

bool is_cubin(std::string_view bytes) {
  const auto header = part_at<Elf64_Ehdr>(bytes, 0);
  return is_elf(bytes) && header && header->e_machine == cuda_machine;
}

Cubin read_cubin(std::string_view bytes, const std::string& where) {
  const auto file = ElfFile::read(bytes);
  if (!file)
    throw UsageError(fmt::format("{}: its device code is cut short or damaged; build it again", where));
  return CubinReader(*file, where).read();
}

std::string kernel_title(std::string_view name) { return demangled(std::string(without_static_mark(name))); }

}  // namespace attnprof
