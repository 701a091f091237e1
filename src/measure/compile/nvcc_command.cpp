#include "measure/compile/nvcc_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "schedule/macro_grammar.hpp"

namespace attnprof {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_.+-/").find(c) != std::string_view::npos;
}

void require_plain(const std::string& word) {
  if (!std::ranges::all_of(word, [](char c) { return is_plain(c) || c == '='; }))
    throw CaseFailed(
        fmt::format("'{}' cannot be given to nvcc, which hands it to a shell; take a name of letters, digits "
                    "and _ . + - /",
                    word));
}

std::string definition(const std::string& file, const std::string& name, const std::string& value) {
  if (!is_macro_name(name) || !is_macro_value(value))
    throw CaseFailed(fmt::format(
        "{}: the macro '{}' of value '{}' cannot be given to nvcc, which hands it to a shell; its "
        "name must be one of C, its value of {}",
        file, name, value, macro_value_characters));
  return "-D" + name + "=" + value;
}

}  // namespace

bool is_shell_safe_path(std::string_view path) {
  return !path.empty() && std::ranges::all_of(path, is_plain);
}

std::vector<std::string> nvcc_command(const std::string& program, const KernelLaunch& kernel,
                                      const std::string& arch) {
  const auto word = [](std::string_view option, std::string_view name) {
    return fmt::format("{}{}", option, name);
  };
  // -iquote: the source is a copy, and includes by quotes what lies beside the original.
  std::vector<std::string> words = {word("", nvcc_names::toolkit) + "/" + program,
                                    "-cubin",
                                    "-arch=" + arch,
                                    "-std=c++17",
                                    "-Xptxas",
                                    "-v",
                                    word("-I", nvcc_names::kernels),
                                    "-Xcompiler",
                                    word("-iquote", nvcc_names::source_folder),
                                    "-MD",
                                    "-MF",
                                    word("", nvcc_names::depends),
                                    "-o",
                                    word("", nvcc_names::cubin),
                                    word("", nvcc_names::unit)};
  std::ranges::for_each(words, require_plain);
  std::vector<std::string> definitions;
  for (const auto& [name, value] : kernel.macros) definitions.push_back(definition(kernel.file, name, value));
  words.insert(words.end() - 1, definitions.begin(), definitions.end());
  return words;
}

}  // namespace attnprof
