#include "measure/gpu/known_sizes.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>

#include "base/output_file.hpp"
#include "base/replace_file.hpp"
#include "measure/gpu/ceilings.hpp"
#include "measure/gpu/counters.hpp"
#include "measure/gpu/gpu_device.hpp"

namespace attnprof {
namespace {

constexpr int64_t mebibyte = 1 << 20;
constexpr int64_t sizes_mib[] = {4, 16, 64, 256, 1024};
constexpr double read_share = 0.005;
constexpr double write_share = 0.005;
constexpr double write_bytes = 0.4e6;  // what dirty lines of others and the counters' own traffic amount to

struct SizesBench {
  GpuDevice& gpu;
  DeviceBuffer source, target;

  void run(const std::string& operation, int64_t bytes) const {
    if (operation == "copy") gpu.harness().copy_plain(source, target, bytes, gpu.stream());
    if (operation == "copy_bulk") gpu.harness().copy_bulk(source, target, bytes, gpu.stream());
    if (operation == "fill") gpu.harness().fill_plain(target, bytes, 7, gpu.stream());
  }
};

std::vector<std::string> operations(const GpuDevice& gpu) {
  if (gpu.has_bulk_copy()) return {"copy", "copy_bulk", "fill"};
  return {"copy", "fill"};
}

SelfTestRow count(const SizesBench& bench, CounterSession& session, const std::string& operation,
                  int64_t bytes) {
  const CountedWork work{.condition = [&] { bench.gpu.evict(); },
                         .run = [&] { bench.run(operation, bytes); },
                         .evict = [&] { bench.gpu.evict(); }};
  work.run();
  Status status;
  return {operation, operation == "fill" ? 0 : bytes, bytes, session.measure(work, Dtype::fp32, status)};
}

std::string ratio_text(std::optional<double> ratio) { return ratio ? fmt::format("{:.4f}", *ratio) : ""; }
std::string count_text(const Count& count) { return count ? fmt::format("{}", *count) : ""; }
std::string clock_text(const Ceiling& rate) {
  return rate.sm_clock_mhz ? fmt::format("{:.0f}", *rate.sm_clock_mhz) : "";
}
// "bf16" of mma_bf16_tflops.
std::string_view dtype_of(std::string_view ceiling) {
  const size_t start = ceiling.find('_') + 1;
  return ceiling.substr(start, ceiling.rfind('_') - start);
}
const char* verdict(const SelfTestRow& row) {
  return row.reads_well() && row.writes_well() ? "ok" : "OUTSIDE";
}

void print_header(std::ostream& out) {
  fmt::print(out, "{:<10} {:>9} {:>14} {:>8} {:>14} {:>8}\n", "operation", "MiB", "read bytes", "/true",
             "write bytes", "/true");
}

void print_row(std::ostream& out, const SelfTestRow& row) {
  fmt::print(out, "{:<10} {:>9} {:>14} {:>8} {:>14} {:>8} {}\n", row.operation, row.true_write / mebibyte,
             count_text(row.counted.hbm_read), ratio_text(row.read_ratio()),
             count_text(row.counted.hbm_write), ratio_text(row.write_ratio()), verdict(row));
  out.flush();
}

void print_rate(std::ostream& out, std::string_view name, const Ceiling& rate) {
  fmt::print(out, "mma.sync   {}: {:.1f} TFLOP/s, SM clock {} MHz\n", dtype_of(name), rate.median,
             rate.sm_clock_mhz ? clock_text(rate) : "unknown");
}

}  // namespace

std::optional<double> SelfTestRow::read_ratio() const {
  if (true_read == 0 || !counted.hbm_read) return std::nullopt;
  return static_cast<double>(*counted.hbm_read) / static_cast<double>(true_read);
}

double SelfTestRow::write_ratio() const {
  return static_cast<double>(counted.hbm_write.value_or(0)) / static_cast<double>(true_write);
}

bool SelfTestRow::reads_well() const {
  if (!counted.hbm_read) return false;
  return true_read == 0 || std::abs(*read_ratio() - 1) <= read_share;
}

bool SelfTestRow::writes_well() const {
  if (!counted.hbm_write) return false;
  const double truth = static_cast<double>(true_write);
  return std::abs(static_cast<double>(*counted.hbm_write) - truth) <= write_bytes + write_share * truth;
}

std::vector<SelfTestRow> count_known_sizes(const MeasureOptions& options,
                                           const std::function<void(const SelfTestRow&)>& counted) {
  driver();  // its sentence comes before the compiler's
  KernelCompiler compiler(compile_options(options));
  try {
    GpuDevice gpu(options.device, compiler);
    const auto session = CounterSession::open(gpu.context().get(), options.device);
    const int64_t largest = sizes_mib[std::size(sizes_mib) - 1] * mebibyte;
    const SizesBench bench{gpu, DeviceBuffer(largest), DeviceBuffer(largest)};
    bench.source.fill(1, gpu.stream());
    std::vector<SelfTestRow> rows;
    for (const std::string& operation : operations(gpu))
      for (const int64_t mib : sizes_mib) {
        rows.push_back(count(bench, *session, operation, mib * mebibyte));
        if (counted) counted(rows.back());
      }
    return rows;
  } catch (const CudaError& error) {
    throw EnvironmentError(fmt::format("the self-test cannot run: {}", error.what()));
  } catch (const CaseFailed& error) {
    throw EnvironmentError(fmt::format("the self-test cannot run: {}", error.what()));
  }
}

std::string self_test_csv(const std::vector<SelfTestRow>& rows, const Ceilings& rates) {
  std::string text =
      "operation,true_read_bytes,counted_read_bytes,read_ratio,true_write_bytes,settled_write_bytes,write_"
      "ratio,"
      "in_kernel_write_bytes,sm_read_bytes,sm_write_bytes,l2_read_bytes,l2_write_bytes,verdict,"
      "tflops_per_s,sm_clock_mhz\n";
  for (const SelfTestRow& row : rows)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},,\n", row.operation, row.true_read,
                        count_text(row.counted.hbm_read), ratio_text(row.read_ratio()), row.true_write,
                        count_text(row.counted.hbm_write), ratio_text(row.write_ratio()),
                        count_text(row.counted.hbm_write_in_kernel), count_text(row.counted.sm_read),
                        count_text(row.counted.sm_write), count_text(row.counted.l2_read),
                        count_text(row.counted.l2_write), verdict(row));
  for (const auto& [name, rate] : rates)
    text += fmt::format("mma_sync_{},,,,,,,,,,,,,{:.1f},{}\n", dtype_of(name), rate.median, clock_text(rate));
  return text;
}

ExitCode self_test(const MeasureOptions& options, const std::string& output, std::ostream& out) {
  if (!output.empty()) check_new_file(output, /*overwrite=*/true);  // a bad path costs nothing
  bool well = true, first = true;
  const std::vector<SelfTestRow> rows = count_known_sizes(options, [&](const SelfTestRow& row) {
    if (std::exchange(first, false)) print_header(out);
    print_row(out, row);
    well &= row.reads_well() && row.writes_well();
  });
  const Ceilings rates = measure_ceilings(options, {"mma_fp16_tflops", "mma_bf16_tflops"}).ceilings;
  for (const auto& [name, rate] : rates) print_rate(out, name, rate);
  if (!output.empty()) replace_file(output, self_test_csv(rows, rates));
  out << (well ? "all counts are within the limits: reads 0.5 %, settled writes 0.4 MB + 0.5 %\n"
               : "counts marked OUTSIDE are beyond the limits: reads 0.5 %, settled writes 0.4 MB + 0.5 %\n");
  return well ? ExitCode::ok : ExitCode::failed;
}

}  // namespace attnprof
