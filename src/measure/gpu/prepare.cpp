#include "measure/gpu/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/overloaded.hpp"
#include "measure/gpu/tensor_map.hpp"
#include "measure/guard_bands.hpp"
#include "model/counting_machine.hpp"
#include "problem/rounding.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {

AttentionStrides strides_of(const Operand& o) {
  return {.batch = o.heads * o.rows * o.row_pitch, .head = o.rows * o.row_pitch, .row = o.row_pitch};
}

namespace {

// Without the library the case cannot run here; others can.
void require_cublas(GpuDevice& gpu) {
  try {
    gpu.cublas();
  } catch (const EnvironmentError& error) {
    throw CaseSkipped(error.what());
  }
}

int64_t guarded_bytes(const OperandList& operands, int64_t guard) {
  return total_bytes(operands) + 2 * guard * static_cast<int64_t>(operands.size());
}

[[noreturn]] void skip_for_memory(int64_t needed, int64_t free) {
  throw CaseSkipped(fmt::format("needs {:.2f} GB of device memory ({} bytes), {:.2f} GB ({} bytes) are free",
                                static_cast<double>(needed) / 1e9, needed, static_cast<double>(free) / 1e9,
                                free));
}

// About how long a step's work takes: its operations, carried over from a few blocks spread over the grid, at
// the device's peaks. Enough to rank steps, whatever is unknown of the device.
double rough_ns(const Step& step, const OperandList& operands, const DeviceProfile& device) {
  constexpr int64_t samples = 9;
  const int64_t ctas = step.schedule.ctas;
  if (!step.schedule.run || ctas == 0) return 0;
  CountingMachine machine(operands);
  const int64_t count = std::min(samples, ctas);
  for (int64_t i = 0; i < count; ++i) step.schedule.run((2 * i + 1) * ctas / (2 * count), machine);
  const SmTraffic& t = machine.traffic();
  const double tensor_peak =
      device.tensor_16bit_tflops > 0 ? device.tensor_16bit_tflops : 10 * device.fp32_tflops;
  const auto ns_at = [](int64_t work, double rate) {
    return rate > 0 ? static_cast<double>(work) / rate : 0;  // 0: not known
  };
  const double ns = std::max(
      {ns_at(t.read_bytes + t.write_bytes, device.hbm_gbps), ns_at(t.tensor_flops, tensor_peak * 1e3),
       ns_at(t.fma_flops, device.fp32_tflops * 1e3), ns_at(t.exponentials, device.exp_gops)});
  return ns * static_cast<double>(ctas) / static_cast<double>(count);
}

}  // namespace

PreparedCase::PreparedCase(const Case& c, const InputSource& inputs, GpuDevice& gpu, KernelCompiler& compiler)
    : case_(c), inputs_(inputs), gpu_(gpu), operands_(c.operands), steps_(c.steps) {
  for (const Step& step : steps_) {
    kernels_.emplace_back();
    std::visit(
        overloaded{[&](const KernelLaunch& kernel) { kernels_.back().emplace(load(kernel, compiler)); },
                   [&](const GemmLaunch&) { require_cublas(gpu); }, [](const MemsetLaunch&) {},
                   [](const PluginLaunch&) {}},
        step.launch);
  }
  placements_.push_back(allocated(placement_guard()));
  for (const Step& step : steps_) {
    plugins_.emplace_back();
    std::visit(overloaded{[](const KernelLaunch&) {}, [](const GemmLaunch&) {}, [](const MemsetLaunch&) {},
                          [&](const PluginLaunch& plugin) {
                            plugins_.back() = plugin.library->prepare(c.problem, gpu.profile());
                          }},
               step.launch);
  }
  set_params();
  fill_inputs();
}

PreparedCase::LoadedKernel PreparedCase::load(const KernelLaunch& kernel, KernelCompiler& compiler) const {
  CompiledKernel compiled = compiler.compile(kernel, gpu_.profile().arch);
  const int64_t smem = compiled.static_smem_bytes + kernel.smem_bytes;
  if (smem > gpu_.profile().smem_per_block_bytes)
    throw CaseSkipped(fmt::format("{} needs {} bytes of shared memory a block, this GPU has {}", kernel.entry,
                                  smem, gpu_.profile().smem_per_block_bytes));
  Module module(compiled.cubin);
  const CUfunction function = module.function(kernel.entry);
  ATTNPROF_CU(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
              static_cast<int>(kernel.smem_bytes));
  return {std::move(compiled), std::move(module), function, {}};
}

// A user's own code may miss its operands while it is timed too. Built-in variants have no bands there.
int64_t PreparedCase::placement_guard() const { return case_.variant->origin.empty() ? 0 : guard_bytes; }

std::vector<DeviceBuffer> PreparedCase::allocated(int64_t guard) const {
  const int64_t needed = guarded_bytes(operands_, guard);
  if (const int64_t free = free_device_bytes(); needed > free) skip_for_memory(needed, free);
  std::vector<DeviceBuffer> buffers;
  try {
    for (const Operand& operand : operands_) buffers.emplace_back(operand.bytes(), guard);
  } catch (const CudaError& error) {  // another process was quicker, or memory is fragmented
    if (error.result() != CUDA_ERROR_OUT_OF_MEMORY) throw;
    buffers.clear();
    skip_for_memory(needed, free_device_bytes());
  }
  return buffers;
}

// Leaves half of the free memory to others.
bool PreparedCase::add_placement(size_t most) {
  if (full_ || placements_.size() >= most) return false;
  full_ = 2 * total_bytes(operands_) > free_device_bytes();
  if (full_) return false;
  try {
    placements_.push_back(allocated(placement_guard()));
  } catch (const CaseSkipped&) {
    full_ = true;
    return false;
  }
  placement_ = placements_.size() - 1;
  set_params();
  fill_inputs();
  reset();
  run();
  gpu_.stream().synchronise();
  return true;
}

bool PreparedCase::relocate(size_t most) {
  if (!add_placement(most)) {
    placement_ = (placement_ + 1) % placements_.size();
    set_params();
  }
  return placements_.size() > 1;
}

void PreparedCase::fill_inputs() const {
  for (const Operand& operand : operands_)
    if (operand.role == Role::input)
      gpu_.harness().fill_input(buffer(operand.id), operand, inputs_, gpu_.stream());
  for (const DeviceBuffer& each : placements_[placement_]) each.fill_guards(gpu_.stream());
  gpu_.stream().synchronise();
}

// The first placement stays where it is, unless its memory is needed too: then it is freed first and
// allocated again after verifying, so that what fits the device once is verified. Leaves half of the free
// memory to others.
void PreparedCase::enter_guards() {
  if (2 * guarded_bytes(operands_, guard_bytes) > free_device_bytes()) placements_.clear();
  placements_.push_back(allocated(guard_bytes));
  placement_ = placements_.size() - 1;
  set_params();
  fill_inputs();
}

void PreparedCase::leave_guards() {
  placements_.pop_back();
  const bool kept = !placements_.empty();
  if (!kept) placements_.push_back(allocated(placement_guard()));
  placement_ = 0;
  set_params();
  if (!kept) fill_inputs();
  reset();
  gpu_.stream().synchronise();
}

void PreparedCase::check_guards() const {
  for (const Operand& operand : operands_) {
    const DeviceBuffer& memory = buffer(operand.id);
    const auto [before, beyond] = memory.overwritten(gpu_.stream());
    if (std::string sentence = guard_sentence(operand.name, memory.bytes(), before, beyond);
        !sentence.empty())
      throw CaseFailed(sentence);
  }
}

void PreparedCase::set_params() {
  for (size_t i = 0; i < steps_.size(); ++i)
    if (kernels_[i]) kernels_[i]->params = params(std::get<KernelLaunch>(steps_[i].launch));
  addresses_.clear();
  for (const DeviceBuffer& each : placements_[placement_]) addresses_.push_back(each.get());
}

AttentionParams PreparedCase::params(const KernelLaunch& kernel) const {
  const Problem& p = case_.problem;
  AttentionParams params{};
  for (const Operand& operand : operands_)
    params.tensors[operand.id] = {buffer(operand.id).get(), strides_of(operand)};
  for (size_t i = 0; i < kernel.tensor_maps.size(); ++i) {  // as many as there are slots: set_launches
    const TensorMap& map = kernel.tensor_maps[i];
    params.tensor_maps[i] =
        encode_tensor_map(map, operands_[map.operand], buffer(map.operand).get(), driver());
  }
  params.batch = static_cast<int>(p.batch);
  params.heads = static_cast<int>(p.heads);
  params.kv_heads = static_cast<int>(p.kv_heads);
  params.q_len = static_cast<int>(p.q_len);
  params.kv_len = static_cast<int>(p.kv_len);
  params.causal_offset = static_cast<int>(p.causal_offset());
  params.scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  return params;
}

void PreparedCase::run_step(size_t index) const {
  std::visit(
      overloaded{
          [&](const KernelLaunch& kernel) {
            void* arguments[] = {const_cast<AttentionParams*>(&kernels_[index]->params)};
            launch(kernels_[index]->function, kernel.grid, kernel.threads, kernel.smem_bytes, gpu_.stream(),
                   arguments);
          },
          [&](const GemmLaunch& gemm) {
            const auto matrix = [&](OperandId id) {
              return GemmMatrix{buffer(id).get(), operands_[id].dtype};
            };
            gpu_.cublas().run(gemm, matrix(gemm.a), matrix(gemm.b), matrix(gemm.c));
          },
          [&](const MemsetLaunch& memset) { buffer(memset.operand).fill(memset.value, gpu_.stream()); },
          [&](const PluginLaunch&) { plugins_[index]->launch(operands_, addresses_, gpu_.stream().get()); }},
      steps_[index].launch);
}

void PreparedCase::run() const {
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].timed) run_step(i);
}

void PreparedCase::reset() const {
  for (const Operand& operand : operands_)
    if (operand.role != Role::input)
      buffer(operand.id).fill(operand.init == Init::zero ? 0 : nan_byte, gpu_.stream());
  for (size_t i = 0; i < steps_.size(); ++i)
    if (!steps_[i].timed) run_step(i);
}

Count PreparedCase::launches() const {
  if (std::ranges::any_of(plugins_, [](const auto& plugin) { return plugin != nullptr; }))
    return std::nullopt;
  return std::ranges::count_if(steps_, [](const Step& step) { return step.timed; });
}

size_t PreparedCase::longest_step() const {
  size_t longest = 0;
  double longest_ns = -1;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const double ns = steps_[i].timed ? rough_ns(steps_[i], operands_, gpu_.profile()) : 0;
    if (ns > longest_ns) longest = i, longest_ns = ns;
  }
  return longest;
}

Build PreparedCase::build() const {
  Build build;
  build.launches = launches();
  build.workspace_bytes = workspace_bytes(operands_);
  build.kernel_hash = kernel_hash();
  describe_step(longest_step(), build);
  return build;
}

void PreparedCase::describe_step(size_t index, Build& build) const {
  std::visit(overloaded{[&](const KernelLaunch& kernel) { describe_kernel(index, kernel, build); },
                        [](const GemmLaunch&) {},  // the library's secret
                        [](const MemsetLaunch&) {}, [](const PluginLaunch&) {}},
             steps_[index].launch);
}

void PreparedCase::describe_kernel(size_t index, const KernelLaunch& kernel, Build& build) const {
  const CompiledKernel& compiled = kernels_[index]->compiled;
  int resident = 0;
  ATTNPROF_CU(cuOccupancyMaxActiveBlocksPerMultiprocessor, &resident, kernels_[index]->function,
              kernel.threads, static_cast<size_t>(kernel.smem_bytes));
  build.ctas = kernel.grid.count();
  build.threads_per_cta = kernel.threads;
  build.registers = compiled.registers;
  build.spill_bytes = compiled.spill_store_bytes + compiled.spill_load_bytes;
  build.smem_bytes = compiled.static_smem_bytes + kernel.smem_bytes;
  build.theoretical_occupancy_pct = 100.0 * static_cast<double>(resident * round_up(kernel.threads, 32)) /
                                    gpu_.profile().max_threads_per_sm;
  if (resident > 0)
    build.waves =
        static_cast<double>(kernel.grid.count()) / (static_cast<double>(resident) * gpu_.profile().sms);
}

// A library's code is named by its version.
std::string PreparedCase::kernel_hash() const {
  std::string all;
  for (size_t i = 0; i < steps_.size(); ++i)
    all += std::visit(overloaded{[&](const KernelLaunch&) { return kernels_[i]->compiled.code_hash + ";"; },
                                 [&](const GemmLaunch&) { return "cublas " + gpu_.cublas().version() + ";"; },
                                 [](const MemsetLaunch&) { return std::string(); },
                                 [&](const PluginLaunch&) {
                                   return fmt::format("plug-in {};", case_.variant->fingerprint);
                                 }},
                      steps_[i].launch);
  return content_hash(all).substr(0, 16);
}

}  // namespace attnprof
