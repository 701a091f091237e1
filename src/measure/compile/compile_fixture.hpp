// For tests: kernels that a stand-in for nvcc compiles, in a directory of their own.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/run_program.hpp"
#include "measure/compile/compile.hpp"

namespace attnprof {

inline void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

// Answers as nvcc does, under the names that nvcc is given (nvcc_command.hpp): copies the source and the
// header beside it into the "cubin", lists both as read, prints a ptxas report, and counts its runs and keeps
// their words. A source that says FAIL does not compile.
inline constexpr const char* fake_nvcc = R"(#!/bin/sh
here=$(dirname "$0")
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; fi
echo run >> "$here/runs"
folder=$(pwd -P)
printf '%s\n' "$@" "TMPDIR=$TMPDIR" "$folder" > "$here/words"
part=attnprof-source/part.h
while [ $# -gt 0 ]; do case $1 in -MF) deps=$2; shift;; -o) out=$2; shift;; *.cu) src=$1;; -D*) defs="$defs $1";; esac; shift; done
if grep -q FAIL "$src"; then echo "In file included from x"; echo "$src(3): error: identifier \"nope\" is undefined"; exit 2; fi
cat "$src" "$part" > "$out"; echo "$defs" >> "$out"
printf '%s : %s \\\n    %s\n' "$out" "$src" "$part" > "$deps"
echo "ptxas info    : Compiling entry function 'k' for 'sm_90a'"
echo "ptxas info    : Function properties for k"
echo "    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads"
echo "ptxas info    : Used 26 registers, used 1 barriers, 128 bytes smem"
)";

class CompileTest : public testing::Test {
 protected:
  CompileTest() {
    std::filesystem::create_directories(kernels());
    write(kernels() / "attention_params.h", "");
    write(kernels() / "part.h", "one");
    write(kernels() / "k.cu", "source");
    write(nvcc(), fake_nvcc);
    chmod(nvcc().c_str(), 0700);
  }
  std::filesystem::path kernels() const { return scratch_.path() / "kernels"; }
  std::filesystem::path nvcc() const { return scratch_.path() / "nvcc"; }
  std::filesystem::path cache() const { return scratch_.path() / "cache"; }
  CompileOptions options() const { return {kernels().string(), cache().string(), nvcc().string()}; }
  size_t runs() const {
    const std::string text = read_file(scratch_.path() / "runs");
    return static_cast<size_t>(std::ranges::count(text, '\n'));
  }
  std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(cache() / "kernels"))
      found.push_back(entry.path());
    return found;
  }
  const KernelLaunch launch_{.file = "k.cu",
                             .entry = "k",
                             .macros = {{"TILE_BR", "64"}},
                             .grid = {},
                             .threads = 32,
                             .smem_bytes = 1024};
  ScratchDir scratch_;
};

}  // namespace attnprof
