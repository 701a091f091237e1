#include "row/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "row/flag_names.hpp"

namespace attnprof {
namespace {

// The field `member` of the row's group `group`.
template <auto group, auto member>
Field at(Row& row) {
  return &(row.*group.*member);
}

// Between `variant` and these stand the fields of the problem.
constexpr auto own_columns = std::to_array<Column>({
    {"variant", Group::identity, "algorithm, as in `attnprof list`; of `attnprof trace` the kernel's name",
     at<&Row::identity, &Identity::variant>},
    {"tile", Group::identity, "tile as asked for: `auto` or Br x Bc", at<&Row::identity, &Identity::tile>},
    {"knobs", Group::identity,
     "variant settings as asked for, `-` for none; of a traced kernel its launch configuration and, a row a "
     "launch, which launch of it",
     at<&Row::identity, &Identity::knobs>},
    {"cache", Group::identity,
     "`cold`: L2 holds none of the operands before each sample; `warm`: what fits of them; `as_found`: what "
     "the traced process left there",
     at<&Row::identity, &Identity::cache>},
    {"schema", Group::provenance, "version of this table", at<&Row::provenance, &Provenance::schema>},
    {"run", Group::provenance, "UTC start time and short hash of the run; key into the .meta.json file",
     at<&Row::provenance, &Provenance::run>},
    {"env_id", Group::provenance, "hash of everything that must agree for two rows to be comparable",
     at<&Row::provenance, &Provenance::env_id>},
    {"backend", Group::provenance, "`gpu` or `sim`", at<&Row::provenance, &Provenance::backend>},
    {"device", Group::provenance, "GPU by its driver name, or simulated target",
     at<&Row::provenance, &Provenance::device>},
    {"kernel_hash", Group::provenance, "hash of the machine code of all steps",
     at<&Row::build, &Build::kernel_hash>},
    {"br", Group::resolved, "rows of Q a block works on", at<&Row::resolved, &Resolved::br>},
    {"bc", Group::resolved, "rows of K and V a block works on", at<&Row::resolved, &Resolved::bc>},
    {"knobs_used", Group::resolved, "variant settings in force", at<&Row::resolved, &Resolved::knobs_used>},
    {"disposition", Group::status,
     "`ok`, `skipped` (cannot run), `incorrect` (ran, wrong numbers), `failed` (error)",
     at<&Row::status, &Status::disposition>},
    {"reason", Group::status, "why it is not ok, as a sentence", at<&Row::status, &Status::reason>},
    {"flags", Group::status,
     "warnings, `;` between: `above_ceiling` (a rate above the device's ceiling), `drift` (samples drift by "
     "over 3 %), `throttled` (the driver limited clocks), `gpu_shared` (another process ran), `few_samples` "
     "(under 6), `imprecise` (--max-time came before --precision), `uncalibrated` (the device's L2 is "
     "assumed), `noisy_bytes` (counts of HBM bytes differ by over 2 % and 1 MB), `graph` (a CUDA graph, its "
     "kernels counted as one), `other_launches` (a launch is one pass: counts that do not fit it are the "
     "median of other launches of the same kernel and configuration)",
     at<&Row::status, &Status::flags>},
    {"verified", Group::verify,
     "`yes`, `no`, or `unchecked`: --verify off, or in the simulator over 2.2e9 useful FLOPs",
     at<&Row::verify, &Verification::verified>},
    {"rel_err", Group::verify, "relative Frobenius error against fp64 over the checked rows",
     at<&Row::verify, &Verification::rel_err>},
    {"max_abs_err", Group::verify, "largest absolute error over the checked rows",
     at<&Row::verify, &Verification::max_abs_err>},
    {"latency_source", Group::latency,
     "`cuda_events`; `model`: an estimate, no measurement; `counters`: cycles that the busiest SM was "
     "active over the SM clock of a traced launch, or the counted range of a CUDA graph, which has the "
     "profiler's microseconds in it",
     at<&Row::latency, &Latency::latency_source>},
    {"latency_median_ns", Group::latency,
     "median time of the whole operation, over samples in up to 8 places of device memory and 8 streams, ns",
     at<&Row::latency, &Latency::median_ns>},
    {"latency_min_ns", Group::latency, "shortest sample, ns", at<&Row::latency, &Latency::min_ns>},
    {"latency_p90_ns", Group::latency, "90th percentile, ns", at<&Row::latency, &Latency::p90_ns>},
    {"latency_ci95_low_ns", Group::latency,
     "lower end of the 95 % interval of the median (order statistics), ns",
     at<&Row::latency, &Latency::ci95_low_ns>},
    {"latency_ci95_high_ns", Group::latency, "upper end, ns; both empty below 6 samples",
     at<&Row::latency, &Latency::ci95_high_ns>},
    {"samples", Group::latency, "timed repetitions", at<&Row::latency, &Latency::samples>},
    {"drift_pct", Group::latency,
     "median of the last third of samples over that of the first, minus one, in percent",
     at<&Row::latency, &Latency::drift_pct>},
    {"sm_clock_mhz", Group::latency, "median SM clock during the timed run, MHz",
     at<&Row::latency, &Latency::sm_clock_mhz>},
    {"bytes_source", Group::counters,
     "`cupti` (hardware counters), `cupti_launch` (the same around launches of a traced process, whose L2 is "
     "left alone), `sim`, or `none`",
     at<&Row::counters, &Counters::bytes_source>},
    {"hbm_read_bytes", Group::counters, "bytes read from device memory (dram__bytes_read)",
     at<&Row::counters, &Counters::hbm_read>},
    {"hbm_write_bytes", Group::counters,
     "bytes written to device memory, settled: dirty lines left in L2 "
     "count too; empty of a traced launch, since settling evicts L2",
     at<&Row::counters, &Counters::hbm_write>},
    {"hbm_write_in_kernel_bytes", Group::counters,
     "bytes that reached device memory before the operation ended (dram__bytes_write)",
     at<&Row::counters, &Counters::hbm_write_in_kernel>},
    {"hbm_bytes", Group::counters,
     "hbm_read_bytes + hbm_write_bytes; of a traced launch + hbm_write_in_kernel_bytes",
     at<&Row::counters, &Counters::hbm_total>},
    {"hbm_spread_pct", Group::counters,
     "(max - min) / median of hbm_bytes over repeated counts, percent; empty for one count",
     at<&Row::counters, &Counters::hbm_spread_pct>},
    {"hbm_counts", Group::counters,
     "counts whose medians hbm_bytes and its parts are; several, with the operands each time elsewhere in "
     "memory, where L2 is so nearly full that they scatter",
     at<&Row::counters, &Counters::hbm_counts>},
    {"l2_read_bytes", Group::counters,
     "bytes L2 served to SMs after merging equal requests (lts__t_sectors_srcunit_tex_op_read x 32)",
     at<&Row::counters, &Counters::l2_read>},
    {"l2_write_bytes", Group::counters, "bytes SMs wrote to L2 (lts__t_sectors_srcunit_tex_op_write x 32)",
     at<&Row::counters, &Counters::l2_write>},
    {"l2_atomic_bytes", Group::counters, "bytes of atomics and reductions at L2 (x 32)",
     at<&Row::counters, &Counters::l2_atomic>},
    {"sm_read_bytes", Group::counters,
     "bytes that arrived at the SMs (l1tex__m_xbar2l1tex_read_bytes): the papers' HBM reads",
     at<&Row::counters, &Counters::sm_read>},
    {"sm_write_bytes", Group::counters, "bytes that left the SMs (l1tex__m_l1tex2xbar_write_bytes)",
     at<&Row::counters, &Counters::sm_write>},
    {"sm_bytes", Group::counters, "sm_read_bytes + sm_write_bytes", at<&Row::counters, &Counters::sm_total>},
    {"local_bytes", Group::counters, "bytes of local memory loads and stores (register spills)",
     at<&Row::counters, &Counters::local>},
    {"model_sm_bytes", Group::model, "sm_bytes by the schedule; empty where a library chooses the tiles",
     at<&Row::model, &Model::sm_bytes>},
    {"model_intermediate_bytes", Group::model, "the part of SM traffic that is S and P",
     at<&Row::model, &Model::intermediate_bytes>},
    {"model_hbm_bytes", Group::model, "hbm_bytes by the schedule and the L2 model",
     at<&Row::model, &Model::hbm_bytes>},
    {"io_lower_bound_bytes", Group::model, "each input read once, each output written once",
     at<&Row::model, &Model::io_lower_bound_bytes>},
    {"useful_flops", Group::model,
     "4 d (bwd: 10 d) an unmasked (query, key) pair, all query heads and "
     "batches; softmax not counted; empty of a traced kernel",
     at<&Row::model, &Model::useful_flops>},
    {"half_square_flops", Group::model,
     "FlashAttention's convention: 4 d q_len kv_len (bwd: 10 d), halved when causal",
     at<&Row::model, &Model::half_square_flops>},
    {"executed_tensor_flops", Group::counters, "FLOPs of tensor core instructions (hardware counter)",
     at<&Row::counters, &Counters::executed_tensor_flops>},
    {"model_tensor_flops", Group::model,
     "tensor core FLOPs by the schedule, padded and masked tiles included",
     at<&Row::model, &Model::tensor_flops>},
    {"useful_tflops_per_s", Group::roofline,
     "useful_flops over latency_median_ns, TFLOP/s; this and the intensities take executed_tensor_flops "
     "where useful_flops are not known: traced kernels",
     at<&Row::roofline, &Roofline::useful_tflops_per_s>},
    {"mfu_pct", Group::roofline,
     "useful_tflops_per_s over the nominal peak of the unit that does the products, percent",
     at<&Row::roofline, &Roofline::mfu_pct>},
    {"hbm_intensity", Group::roofline, "useful_flops / hbm_bytes, FLOP a byte",
     at<&Row::roofline, &Roofline::hbm_intensity>},
    {"l2_intensity", Group::roofline, "useful_flops / (l2_read_bytes + l2_write_bytes), FLOP a byte",
     at<&Row::roofline, &Roofline::l2_intensity>},
    {"sm_intensity", Group::roofline, "useful_flops / sm_bytes, FLOP a byte",
     at<&Row::roofline, &Roofline::sm_intensity>},
    {"roof_tflops_per_s", Group::roofline,
     "min(peak of the unit for the dtype, hbm_intensity x HBM bandwidth), as measured (ceilings in "
     ".meta.json), else nominal, TFLOP/s; a measured peak is that of the SM clock the power limit left it, "
     "its sm_clock_mhz there, not of the row's",
     at<&Row::roofline, &Roofline::roof_tflops_per_s>},
    {"roof_pct", Group::roofline,
     "useful_tflops_per_s over roof_tflops_per_s, percent; under a measured peak the share at one clock is "
     "this times the peak's sm_clock_mhz over the row's",
     at<&Row::roofline, &Roofline::roof_pct>},
    {"bound", Group::roofline,
     "resource that alone would need the longest time: hbm, l2 (sm_bytes at the "
     "rate L2 delivers to SMs; where these were not counted, at least l2_read_bytes "
     "+ l2_write_bytes), tensor, fma, exp; latency where that is under a quarter of "
     "the measured one; empty where bytes or a rate of the device are not known",
     at<&Row::roofline, &Roofline::bound>},
    {"launches", Group::build, "timed launches of the operation; kernels of a traced CUDA graph",
     at<&Row::build, &Build::launches>},
    {"ctas", Group::build,
     "thread blocks of the longest step; like the columns that follow, empty where that is a library's",
     at<&Row::build, &Build::ctas>},
    {"threads_per_cta", Group::build, "threads a block", at<&Row::build, &Build::threads_per_cta>},
    {"registers", Group::build,
     "registers a thread; more are worse for the gate where fewer blocks fit an SM",
     at<&Row::build, &Build::registers>},
    {"spill_bytes", Group::build,
     "spilled bytes a thread, loads and stores (compiler report); of a traced kernel local memory a thread, "
     "which spills and arrays take",
     at<&Row::build, &Build::spill_bytes>},
    {"smem_bytes", Group::build, "shared memory a block; as registers for the gate",
     at<&Row::build, &Build::smem_bytes>},
    {"theoretical_occupancy_pct", Group::build,
     "resident warps an SM that registers, shared memory and threads allow, percent",
     at<&Row::build, &Build::theoretical_occupancy_pct>},
    {"achieved_occupancy_pct", Group::build, "resident warps over active cycles (sm__warps_active), percent",
     at<&Row::counters, &Counters::achieved_occupancy_pct>},
    {"waves", Group::build, "ctas over those resident at once", at<&Row::build, &Build::waves>},
    {"tensor_pipe_pct", Group::build,
     "cycles the tensor pipe was active (sm__pipe_tensor_cycles_active), percent of elapsed",
     at<&Row::counters, &Counters::tensor_pipe_pct>},
    {"sm_cycles", Group::build, "SM cycles of the counted run (sm__cycles_elapsed.max)",
     at<&Row::counters, &Counters::sm_cycles>},
    {"workspace_bytes", Group::build,
     "device memory beyond the tensors of the pass, that of steps that are not timed included",
     at<&Row::build, &Build::workspace_bytes>},
});

constexpr size_t fields_begin = 1;

std::vector<Column> columns_now() {
  std::vector<Column> columns(own_columns.begin(), own_columns.end());
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(fields_begin + i),
                   {fields[i].name, Group::identity, fields[i].description, nullptr, i});
  return columns;
}

struct CellField {
  Field operator()(std::string& word) const { return &word; }
  Field operator()(Count& count) const { return &count; }
};

constexpr auto names_of_flags =
    std::to_array<std::string_view>({"above_ceiling", "drift", "throttled", "gpu_shared", "few_samples",
                                     "imprecise", "uncalibrated", "noisy_bytes", "graph", "other_launches"});

template <class Number>
Number parse_number(const Column& column, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError(fmt::format("column {}: '{}' is not a number", column.name, text));
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value))
      throw UsageError(fmt::format("column {}: '{}' is not finite", column.name, text));
  return value;
}

struct CellText {
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const Count* count) const { return *count ? fmt::format("{}", **count) : ""; }
  std::string operator()(const Real* real) const {
    return *real && std::isfinite(**real) ? fmt::format("{:.6g}", **real) : "";
  }
};

struct CellParse {
  const Column& column;
  std::string_view text;
  void operator()(std::string* field) const { *field = text; }
  void operator()(Count* field) const {
    *field = text.empty() ? Count{} : Count{parse_number<int64_t>(column, text)};
  }
  void operator()(Real* field) const {
    *field = text.empty() ? Real{} : Real{parse_number<double>(column, text)};
  }
};

}  // namespace

std::string_view to_string(Group group) {
  constexpr std::array names = {"identity", "provenance", "resolved", "status",   "verify",
                                "latency",  "counters",   "model",    "roofline", "build"};
  return names[static_cast<size_t>(group)];
}

Field Column::field(Row& row) const {
  return at ? at(row) : std::visit(CellField{}, row.identity.problem.at(problem_position));
}

const ProblemField* Column::problem_field() const {
  return at ? nullptr : &problem_fields()[problem_position];
}

// One list for each that the problem's fields have had: pointers to columns stay valid.
std::span<const Column> schema() {
  static std::mutex mutex;
  static std::map<int, std::vector<Column>> lists;
  const std::lock_guard lock(mutex);
  const auto [list, added] = lists.try_emplace(problem_fields_version());
  if (added) list->second = columns_now();
  return list->second;
}

const Column* find_column(std::string_view name) {
  for (const Column& column : schema())
    if (column.name == name) return &column;
  return nullptr;
}

std::vector<const Column*> identity_columns() {
  std::vector<const Column*> columns;
  for (const Column& column : schema())
    if (column.group == Group::identity) columns.push_back(&column);
  return columns;
}

std::vector<std::string> identity_names() {
  std::vector<std::string> names;
  for (const Column* column : identity_columns()) names.emplace_back(column->name);
  return names;
}

bool tells(const Column& column, const Row& row) {
  return !column.problem_field() || row.identity.problem.tells(column.problem_position);
}

// Columns hold one accessor, for writing; reading goes through it too, without changing the row.
std::string cell(const Column& column, const Row& row) {
  return std::visit(CellText{}, column.field(const_cast<Row&>(row)));
}

void set_cell(const Column& column, Row& row, std::string_view text) {
  std::visit(CellParse{column, text}, column.field(row));
}

std::span<const std::string_view> flag_names() { return names_of_flags; }

std::string_view to_string(Flag flag) { return flag_names()[static_cast<size_t>(flag)]; }

bool has_flag(const Status& status, Flag flag) {
  return fmt::format(";{};", status.flags).find(fmt::format(";{};", to_string(flag))) != std::string::npos;
}

void add_flag(Status& status, Flag flag) {
  if (has_flag(status, flag)) return;
  if (!status.flags.empty()) status.flags += ';';
  status.flags += to_string(flag);
}

}  // namespace attnprof
