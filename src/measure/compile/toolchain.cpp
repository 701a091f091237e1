#include "measure/compile/toolchain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/program_path.hpp"
#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "base/trusted_path.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

std::string version_text_of(const std::string& nvcc) {
  const ScratchDir scratch;
  const std::string output = scratch.path() / "version";
  return run_program({nvcc, "--version"}, output) == 0 ? read_file(output) : "";
}

// Which compiler a user names; empty: none.
std::string named_compiler() {
  const char* named = std::getenv("CUDACXX");
  return named ? named : "";
}

// A program of a toolkit: CUDA_HOME, PATH, the usual places, NVIDIA's wheels.
std::vector<std::string> in_toolkits(const std::string& program) {
  std::vector<std::string> candidates;
  const std::vector<fs::path> roots = toolkit_roots();
  const bool has_home = std::getenv("CUDA_HOME") && *std::getenv("CUDA_HOME");
  if (has_home) candidates.push_back((roots.front() / "bin" / program).string());
  for (std::string& path : in_path(program)) candidates.push_back(std::move(path));
  for (size_t i = has_home ? 1 : 0; i < roots.size(); ++i)
    candidates.push_back((roots[i] / "bin" / program).string());
  return candidates;
}

[[noreturn]] void refuse_named_compiler(const std::string& named, const std::vector<std::string>& looked_at) {
  throw EnvironmentError(
      fmt::format("CUDACXX names the compiler {}, and there is no such program (looked at: {}); "
                  "name an nvcc, or unset it",
                  named, looked_at.empty() ? "PATH" : fmt::format("{}", fmt::join(looked_at, ", "))));
}

}  // namespace

// One that is named is the only one: another compiler would make other machine code.
std::vector<std::string> nvcc_candidates() {
  const std::string named = named_compiler();
  if (named.empty()) return in_toolkits("nvcc");
  return named.find('/') == std::string::npos ? in_path(named) : std::vector{fs::absolute(named).string()};
}

std::string find_nvdisasm() {
  std::vector<std::string> candidates;
  if (!named_compiler().empty())
    for (const std::string& nvcc : nvcc_candidates())
      candidates.push_back((fs::path(nvcc).parent_path() / "nvdisasm").string());
  std::ranges::move(in_toolkits("nvdisasm"), std::back_inserter(candidates));
  const auto found = std::ranges::find_if(candidates, is_program);
  if (found == candidates.end()) return "";
  require_trusted(*found, "the disassembler");
  return *found;
}

Toolchain find_toolchain() {
  const std::vector<std::string> candidates = nvcc_candidates();
  const std::string named = named_compiler();
  if (!named.empty() && std::ranges::none_of(candidates, is_program))
    refuse_named_compiler(named, candidates);
  return find_toolchain(candidates);
}

Toolchain find_toolchain(const std::vector<std::string>& candidates) {
  const auto found = std::ranges::find_if(candidates, is_program);
  if (found == candidates.end())
    throw EnvironmentError(fmt::format(
        "no nvcc found, and GPU kernels are compiled when they are needed; install the CUDA toolkit, "
        "set CUDACXX to its nvcc, or use --backend sim (looked at: {})",
        fmt::join(candidates, ", ")));
  require_trusted(*found, "the compiler");
  Toolchain toolchain{.nvcc = *found, .version = "", .version_text = version_text_of(*found)};
  toolchain.version = parse_nvcc_version(toolchain.version_text);
  if (toolchain.version.empty())
    throw EnvironmentError(fmt::format(
        "{} does not answer --version as nvcc does; set CUDACXX to a working nvcc, or repair this one",
        *found));
  return toolchain;
}

std::string parse_nvcc_version(const std::string& text) {
  // "Cuda compilation tools, release 13.0, V13.0.88"
  const size_t release = text.find("release ");
  const size_t start = release == std::string::npos ? release : text.find(", V", release);
  if (start == std::string::npos) return "";
  const size_t end = text.find_first_not_of("0123456789.", start + 3);
  return text.substr(start + 3, end == std::string::npos ? end : end - start - 3);
}

}  // namespace attnprof
