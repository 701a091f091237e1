#include "cli/resource_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "device/architectures.hpp"
#include "measure/compile/device_code.hpp"
#include "measure/compile/disassembly.hpp"
#include "measure/compile/toolchain.hpp"
#include "schedule/occupancy.hpp"

namespace attnprof {
namespace {

Count threads_of(const CubinKernel& kernel, int block) {
  if (block == 0) return kernel.most_threads ? Count(*kernel.most_threads) : std::nullopt;
  return std::min(block, kernel.most_threads.value_or(block));
}

Count ctas_of(const KernelRow& row, int64_t dynamic_smem) {
  const auto device = profile_of_architecture(row.arch);
  if (!device || !row.threads) return std::nullopt;
  return resident_ctas_per_sm(
      {static_cast<int>(*row.threads), row.facts.registers, row.facts.smem_bytes + dynamic_smem}, *device);
}

// What uses no stack has nothing in local memory.
void count_accesses(const Cubin& cubin, std::string_view bytes, const std::string& where, Reading& reading) {
  const auto begin = reading.rows.end() - std::ssize(cubin.kernels);
  const auto has_stack = [](const KernelRow& row) { return row.facts.stack_bytes > 0; };
  if (reading.options.disassembly == Disassembly::off) return;
  std::map<std::string, LocalAccesses> accesses;
  const bool any = std::any_of(begin, reading.rows.end(), has_stack);
  if (any && !reading.nvdisasm.empty()) accesses = local_accesses(bytes, reading.nvdisasm, where);
  for (auto row = begin; row != reading.rows.end(); ++row) {
    const auto found = accesses.find(row->facts.name);
    if (found != accesses.end())
      row->local_loads = found->second.loads, row->local_stores = found->second.stores;
    else if (!has_stack(*row))
      row->local_loads = row->local_stores = 0;
    else
      ++reading.without_accesses;
  }
}

void add_cubin(std::string_view bytes, const std::string& where, const std::string& file, Reading& reading,
               std::map<std::string, int>& copies) {
  Cubin cubin = read_cubin(bytes, where);
  for (CubinKernel& kernel : cubin.kernels) {
    KernelRow row{.file = file,
                  .arch = cubin.arch,
                  .kernel = kernel_title(kernel.name),
                  .compiler = cubin.compiler,
                  .facts = kernel,
                  .threads = threads_of(kernel, reading.options.block),
                  .ctas_per_sm = {},
                  .local_loads = {},
                  .local_stores = {}};
    row.copy = ++copies[fmt::format("{}\n{}", row.arch, row.kernel)];
    row.ctas_per_sm = ctas_of(row, reading.options.dynamic_smem);
    reading.without_threads += !row.threads;
    reading.rows.push_back(std::move(row));
  }
  count_accesses(cubin, bytes, where, reading);
}

std::string content_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw UsageError(
        fmt::format("{} is no file that can be read; give a cubin, fatbin, library or executable", file));
  return read_text_file(file);
}

void read_file_of_kernels(const std::string& path, Reading& reading) {
  const std::string content = content_of(path);
  // Two ways to write a path are one file.
  const std::string file = reading.options.as.empty()
                               ? std::filesystem::path(path).lexically_normal().string()
                               : reading.options.as;
  std::map<std::string, int> copies;
  const size_t before = reading.rows.size();
  const DeviceCode code = for_each_cubin(
      content, path, [&](std::string_view cubin) { add_cubin(cubin, path, file, reading, copies); });
  if (reading.rows.size() > before) return;
  say(fmt::format(
      "{} has no kernel{}", path,
      code.cubins == 0 && code.ptx > 0
          ? ": its device code is PTX alone; build it for an architecture (-gencode ... code=sm_90)"
          : ""));
}

}  // namespace

Reading read_kernels(const ResourcesCommand& options) {
  Reading reading{.options = options, .nvdisasm = {}, .rows = {}};
  if (options.disassembly != Disassembly::off) reading.nvdisasm = find_nvdisasm();
  if (options.disassembly == Disassembly::on && reading.nvdisasm.empty())
    throw EnvironmentError(
        "--disassembly on: there is no nvdisasm; install the CUDA toolkit or the Python package "
        "nvidia-cuda-nvdisasm, or put it in PATH");
  for (const std::string& file : options.files) read_file_of_kernels(file, reading);
  if (reading.rows.empty())
    throw EnvironmentError("there is no kernel in what was given: give what was built with nvcc");
  return reading;
}

void say_what_is_not_known(const Reading& reading) {
  if (reading.without_accesses > 0)
    say(fmt::format(
        "local loads and stores of {} kernel{} with a stack are not known: there is no nvdisasm; install "
        "the CUDA toolkit or the Python package nvidia-cuda-nvdisasm",
        reading.without_accesses, reading.without_accesses == 1 ? "" : "s"));
  if (reading.without_threads > 0)
    say(fmt::format("ctas_per_sm of {} kernel{} without launch bounds is not known: give --block",
                    reading.without_threads, reading.without_threads == 1 ? "" : "s"));
}

}  // namespace attnprof
