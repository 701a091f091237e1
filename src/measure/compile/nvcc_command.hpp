// The command line of nvcc, made here and nowhere else. nvcc hands what it is given to a shell, paths and
// all, so every word is held to a grammar, and a user's paths are not among them: nvcc runs in a folder of
// its own (run_nvcc.hpp), in which they have these names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedule/step.hpp"

namespace attnprof {

// In nvcc's folder: links to the folders of nvcc, of the kernels' headers and of the source, a copy of the
// source, and what is written.
namespace nvcc_names {
inline constexpr std::string_view toolkit = "attnprof-toolkit", kernels = "attnprof-kernels",
                                  source_folder = "attnprof-source", unit_folder = "attnprof-unit",
                                  unit = "attnprof-unit/source.cu", cubin = "kernel.cubin",
                                  depends = "depends";
}  // namespace nvcc_names

// `program`: nvcc's name in its folder. Throws CaseFailed, naming it, for a macro beyond the grammar
// (schedule/macro_grammar.hpp) or a word that a shell could read as more than a word.
std::vector<std::string> nvcc_command(const std::string& program, const KernelLaunch& kernel,
                                      const std::string& arch);

// Letters, digits and _ . + - / : means itself in any shell, quoted or not.
bool is_shell_safe_path(std::string_view path);

}  // namespace attnprof
