// Hash of a kernel's machine code.
#pragma once

#include <string>
#include <string_view>

namespace attnprof {

// Hash of a kernel's instructions, 16 digits.
std::string hash_of_code(std::string_view instructions);

// Hash of the instructions of `entry` in a cubin (its section .text.<entry>), 16 digits. Unlike the file it
// does not depend on paths or compile time. The whole file's hash when it is no ELF file or lacks the entry.
std::string code_hash(std::string_view cubin, std::string_view entry);

}  // namespace attnprof
