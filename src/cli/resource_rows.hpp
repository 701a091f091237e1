// The kernels of built files, as rows of `attnprof resources`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags/format.hpp"
#include "measure/compile/cubin.hpp"
#include "row/problem_cells.hpp"

namespace attnprof {

enum class Disassembly { automatic, on, off };

struct ResourcesCommand {
  std::string command_line;
  std::vector<std::string> files;
  std::string as;
  int block = 0;  // 0: what the kernel says
  int64_t dynamic_smem = 0;
  Disassembly disassembly = Disassembly::automatic;
  std::string output;
  bool overwrite = false;
  Format format = Format::table;
};

// One kernel for one architecture.
struct KernelRow {
  std::string file, arch, kernel, compiler;
  int copy = 1;  // which of several of one name
  CubinKernel facts;
  Count threads, ctas_per_sm, local_loads, local_stores;
};

// What all rows have in common.
struct Reading {
  const ResourcesCommand& options;
  std::string nvdisasm;  // empty: there is none
  std::vector<KernelRow> rows;
  size_t without_threads = 0, without_accesses = 0;  // rows
  std::string why_without_accesses = {};             // of the first of them
};

// In the order of the files. Throws UsageError for a file that cannot be read or is given twice,
// EnvironmentError where there is no kernel or a tool that is asked for is missing or fails.
Reading read_kernels(const ResourcesCommand& options);

// Prints what is missing from the rows, and what would help.
void say_what_is_not_known(const Reading& reading);

}  // namespace attnprof
