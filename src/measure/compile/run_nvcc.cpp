#include "measure/compile/run_nvcc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "measure/compile/nvcc_command.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// nvcc puts the real path of what it compiles into its shell's commands, so links do not help here.
fs::path parent_for_nvcc(const fs::path& wanted) {
  for (const fs::path& parent : {wanted, ScratchDir::temporary_directory(), fs::path("/tmp")}) {
    std::error_code error;
    const fs::path real = fs::canonical(parent, error);
    if (!error && is_shell_safe_path(real.string())) return real;
  }
  throw EnvironmentError(fmt::format(
      "nvcc hands the path of its folder to a shell, which {} is not fit for; set TMPDIR to a folder whose "
      "path has letters, digits and _ . + - / alone",
      wanted.string()));
}

// nvcc's folder, and the names in it against the user's.
class Place {
 public:
  Place(const NvccPaths& paths, const fs::path& parent) : scratch_(parent_for_nvcc(parent)) {
    link(nvcc_names::toolkit, fs::path(paths.nvcc).parent_path());
    link(nvcc_names::kernels, paths.kernels_dir);
    link(nvcc_names::source_folder, fs::path(paths.source).parent_path());
    fs::create_directory(scratch_.path() / nvcc_names::unit_folder);
    std::ofstream unit(scratch_.path() / nvcc_names::unit, std::ios::binary);
    unit << read_file(paths.source);
    unit.close();
    if (!unit) throw CaseFailed(fmt::format("{} cannot be copied to {}", paths.source, folder()));
    names_.emplace_back(nvcc_names::unit, paths.source);
  }

  std::string folder() const { return scratch_.path().string(); }
  std::string text_of(std::string_view name) const { return read_file(scratch_.path() / name); }

  // In one pass: a user's own path may hold one of the names.
  std::string with_own_names(const std::string& text) const {
    std::string all;
    for (size_t at = 0; at < text.size();) {
      const auto here = std::ranges::find_if(names_, [&](const auto& name) {
        return text.compare(at, name.first.size(), name.first) == 0 && (at == 0 || text[at - 1] != '/');
      });
      all += here == names_.end() ? text.substr(at, 1) : here->second;
      at += here == names_.end() ? 1 : here->first.size();
    }
    return all;
  }

 private:
  void link(std::string_view name, const fs::path& folder) {
    fs::create_directory_symlink(folder, scratch_.path() / name);
    names_.emplace_back(fmt::format("{}/", name), (folder / "").string());
  }

  ScratchDir scratch_;
  std::vector<std::pair<std::string, std::string>> names_;
};

// Prerequisites of a make rule: "target : a.cu \<newline> b.h \ ...". In a name a backslash stands before a
// space or a #, and $ is $$.
std::vector<std::string> parse_dependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, ""));
  };
  for (size_t i = rule.find(": ") + 1; i < rule.size(); ++i) {
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    const bool escape = rule[i] == '\\';
    if ((escape && (next == ' ' || next == '#')) || (rule[i] == '$' && next == '$'))
      word += rule[++i];
    else if (std::isspace(static_cast<unsigned char>(rule[i])) || (escape && next == '\n'))
      flush();
    else
      word += rule[i];
  }
  flush();
  return files;
}

// Everything that nvcc starts keeps its temporary files in nvcc's folder. A compiler that the user names by a
// path from the folder they are in is still that one.
Variables variables() {
  Variables all = {{"TMPDIR", "."}};
  const char* compiler = std::getenv("NVCC_CCBIN");
  if (compiler && std::string_view(compiler).find('/') != std::string_view::npos)
    all.emplace_back("NVCC_CCBIN", fs::absolute(compiler).string());
  return all;
}

}  // namespace

NvccRun run_nvcc(const NvccPaths& paths, const KernelLaunch& kernel, const std::string& arch,
                 const fs::path& folder, const std::atomic<bool>* cancel) {
  const std::vector<std::string> command =
      nvcc_command(fs::path(paths.nvcc).filename().string(), kernel, arch);
  const Place place(paths, folder);
  NvccRun run;
  run.code = run_program(command, place.folder() + "/log.txt", cancel, {place.folder(), variables()});
  run.cubin = place.text_of(nvcc_names::cubin);
  run.log = place.with_own_names(place.text_of("log.txt"));
  for (const std::string& file : parse_dependencies(place.text_of(nvcc_names::depends)))
    run.read_files.push_back(place.with_own_names(file));
  return run;
}

}  // namespace attnprof
