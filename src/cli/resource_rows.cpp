#include "cli/resource_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

constexpr const char* no_nvdisasm =
    "there is no nvdisasm; install the CUDA toolkit or the Python package nvidia-cuda-nvdisasm, or put it in "
    "PATH";

using AccessesByName = std::map<std::string, LocalAccesses>;

// Empty, and `why` says why, where they are not known and need not be.
AccessesByName accesses_of(std::string_view bytes, const std::string& where, const Reading& reading,
                           std::string& why) {
  if (reading.nvdisasm.empty()) {
    why = no_nvdisasm;
    return {};
  }
  why = fmt::format("{}: {} does not list all kernels; take the one of a newer toolkit", where,
                    reading.nvdisasm);
  try {
    return local_accesses(bytes, reading.nvdisasm, where);
  } catch (const EnvironmentError& error) {
    if (reading.options.disassembly == Disassembly::on) throw;
    why = error.what();
    return {};
  }
}

void leave_out_accesses(const std::string& why, Reading& reading) {
  if (reading.options.disassembly == Disassembly::on)
    throw EnvironmentError(fmt::format("--disassembly on: {}", why));
  if (reading.without_accesses++ == 0) reading.why_without_accesses = why;
}

// What uses no stack has nothing in local memory.
void count_accesses(const Cubin& cubin, std::string_view bytes, const std::string& where, Reading& reading) {
  const auto begin = reading.rows.end() - std::ssize(cubin.kernels);
  const auto has_stack = [](const KernelRow& row) { return row.facts.stack_bytes > 0; };
  if (reading.options.disassembly == Disassembly::off) return;
  AccessesByName accesses;
  std::string why;
  if (std::any_of(begin, reading.rows.end(), has_stack)) accesses = accesses_of(bytes, where, reading, why);
  for (auto row = begin; row != reading.rows.end(); ++row) {
    const auto found = accesses.find(row->facts.name);
    if (found != accesses.end())
      row->local_loads = found->second.loads, row->local_stores = found->second.stores;
    else if (!has_stack(*row))
      row->local_loads = row->local_stores = 0;
    else
      leave_out_accesses(why, reading);
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

// Two ways to write a path are one file.
std::string plain_path(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

// Rows match by file: of one that is read twice, each row would be there twice.
void check_given_once(const std::vector<std::string>& files) {
  std::map<std::string, std::string> seen;  // as it was given, by its plain path
  for (const std::string& file : files)
    if (const auto [first, added] = seen.emplace(plain_path(file), file); !added)
      throw UsageError(first->second == file
                           ? fmt::format("{} is given twice; give each file once", file)
                           : fmt::format("{} and {} are one file; give it once", first->second, file));
}

// Returns why there is no kernel, empty where there is one.
std::string read_file_of_kernels(const std::string& path, Reading& reading) {
  const std::string content = content_of(path);
  const std::string file = reading.options.as.empty() ? plain_path(path) : reading.options.as;
  std::map<std::string, int> copies;
  const size_t before = reading.rows.size();
  const DeviceCode code = for_each_cubin(
      content, path, [&](std::string_view cubin) { add_cubin(cubin, path, file, reading, copies); });
  if (reading.rows.size() > before) return "";
  const bool only_ptx = code.cubins == 0 && code.ptx > 0;
  return only_ptx ? fmt::format(
                        "the device code of {} is PTX alone; build it for an architecture (-gencode ... "
                        "code=sm_90)",
                        path)
                  : fmt::format("{} has none; give what was built with nvcc", path);
}

}  // namespace

Reading read_kernels(const ResourcesCommand& options) {
  check_given_once(options.files);
  Reading reading{.options = options, .nvdisasm = {}, .rows = {}};
  if (options.disassembly != Disassembly::off) reading.nvdisasm = find_nvdisasm();
  if (options.disassembly == Disassembly::on && reading.nvdisasm.empty())
    throw EnvironmentError(fmt::format("--disassembly on: {}", no_nvdisasm));
  std::vector<std::string> without_kernels;
  for (const std::string& file : options.files)
    if (std::string why = read_file_of_kernels(file, reading); !why.empty())
      without_kernels.push_back(std::move(why));
  // Where nothing was read, it explains the exit code.
  if (reading.rows.empty())
    throw EnvironmentError(
        fmt::format("there is no kernel in what was given: {}", fmt::join(without_kernels, "; ")));
  for (const std::string& why : without_kernels) say(fmt::format("there is a file without kernels: {}", why));
  return reading;
}

void say_what_is_not_known(const Reading& reading) {
  if (reading.without_accesses > 0)
    say(fmt::format("local loads and stores of {} kernel{} with a stack are not known: {}",
                    reading.without_accesses, reading.without_accesses == 1 ? "" : "s",
                    reading.why_without_accesses));
  if (reading.without_threads > 0)
    say(fmt::format("ctas_per_sm of {} kernel{} without launch bounds is not known: give --block",
                    reading.without_threads, reading.without_threads == 1 ? "" : "s"));
}

}  // namespace attnprof
