#include "trace/inject/tracer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <exception>
#include <filesystem>

#include "measure/gpu/driver.hpp"
#include "trace/inject/nvtx_ranges.hpp"

namespace attnprof {
namespace {

thread_local bool counting_here = false;

constexpr size_t most_names = 500;   // written as they are first seen
constexpr int most_passed_by = 200;  // launches of others that a count in several passes may cost

std::string program_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::string mangled_name(const void* handle, const char* symbol = nullptr) {
  if (symbol) return symbol;
  const char* name = nullptr;
  const auto function = static_cast<CUfunction>(const_cast<void*>(handle));
  if (driver().cuFuncGetName && driver().cuFuncGetName(&name, function) == CUDA_SUCCESS && name) return name;
  return "(a kernel without a name)";
}

// A CUkernel may stand where a CUfunction is expected.
int64_t attribute(const void* handle, CUfunction_attribute wanted) {
  auto function = static_cast<CUfunction>(const_cast<void*>(handle));
  int value = 0;
  if (driver().cuFuncGetAttribute(&value, wanted, function) == CUDA_SUCCESS) return value;
  const auto kernel = reinterpret_cast<CUkernel>(const_cast<void*>(handle));
  if (driver().cuKernelGetFunction && driver().cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS &&
      driver().cuFuncGetAttribute(&value, wanted, function) == CUDA_SUCCESS)
    return value;
  return 0;
}

void add_attributes(const void* handle, LaunchShape& shape) {
  shape.static_smem = attribute(handle, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  shape.registers = attribute(handle, CU_FUNC_ATTRIBUTE_NUM_REGS);
  shape.local = attribute(handle, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
}

// Mangled names of a graph's kernels; of child graphs none.
std::vector<std::string> kernels_of(CUgraph graph) {
  const Driver& api = driver();
  size_t count = 0;
  if (api.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS) return {};
  std::vector<CUgraphNode> nodes(count);
  if (count == 0 || api.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return {};
  std::vector<std::string> names;
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    CUDA_KERNEL_NODE_PARAMS parameters{};
    if (api.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS || type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    if (!api.cuGraphKernelNodeGetParams || api.cuGraphKernelNodeGetParams(node, &parameters) != CUDA_SUCCESS)
      continue;
    CUfunction function = parameters.func;
    if (!function && api.cuKernelGetFunction) api.cuKernelGetFunction(&function, parameters.kern);
    names.push_back(mangled_name(function));
  }
  return names;
}

}  // namespace

Tracer::Tracer(const TraceSettings& settings)
    : settings_(settings),
      range_("--range", settings.range),
      output_(settings.folder),
      functions_(Pattern("--kernel", settings.kernel)),
      pid_(getpid()) {
  output_.write(ProcessRecord{pid_, program_path()});
  functions_.on_new = [this, names = size_t{0}](const std::string& kernel) mutable {
    if (++names <= most_names && getpid() == pid_) output_.write(KernelSeen{kernel, 0});
  };
}

void Tracer::fail(const std::string& sentence) {
  if (!failed_.exchange(true) && getpid() == pid_) output_.write(TraceFailure{sentence});
}

// A process that was forked off writes nothing: its counts are its parent's.
void Tracer::finish() {
  finished_ = true;
  if (getpid() != pid_) return;
  for (const auto& [kernel, launches] : functions_.launches())
    if (launches > 0) output_.write(KernelSeen{kernel, launches});
}

void Tracer::graph_instantiated(CUgraphExec graph_exec, CUgraph graph) {
  try {
    if (const auto names = kernels_of(graph); !names.empty())
      functions_.add_graph(graph_exec, names);
    else
      functions_.forget_graph(graph_exec);
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

bool Tracer::counting() { return counting_here; }

// Every launch of the program waits for this, so what is known is answered without a lock, a copy or an
// allocation.
TracedFunction* Tracer::wanted(const void* handle, const char* symbol) {
  if (counting_here) return nullptr;
  try {
    TracedFunction* function = functions_.find(handle);
    if (!function) function = &functions_.add(handle, mangled_name(handle, symbol));
    function->launches.fetch_add(1, std::memory_order_relaxed);
    return function->wanted && !failed_ && captures_ == 0 ? function : nullptr;
  } catch (const std::exception& error) {
    fail(error.what());
    return nullptr;
  }
}

void Tracer::before(const Launch& launch, TracedFunction& function) {
  try {
    if (getpid() != pid_) return;
    if (!range_.empty() && (innermost_range().empty() || !range_.matches(innermost_range()))) return;
    std::unique_lock lock(counting_);
    start(launch, function);
    if (!running_.work) return;
    counting_here = true;
    lock_ = std::move(lock);
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void Tracer::after(bool launched) {
  counting_here = false;
  const std::unique_lock lock = std::move(lock_);
  try {
    stop(launched);
  } catch (const std::exception& error) {
    fail(error.what());
  }
  running_ = {};
}

// Inside the driver, which may hold locks that a count waits for: where another thread counts, the session is
// left for it or the next to drop.
void Tracer::context_destroyed(CUcontext context) {
  if (finished_ || counting_here || getpid() != pid_) return;
  functions_.forget();  // its modules go with it
  if (const std::unique_lock lock(counting_, std::try_to_lock); lock) {
    drop_lost_sessions();  // one of them may have had this address
    sessions_.erase(context);
    return;
  }
  const std::lock_guard lock(losing_);
  lost_.push_back(context);
}

// Of contexts that are no more: CUPTI must not be told to disable what it had there.
void Tracer::drop_lost_sessions() {
  const std::lock_guard lock(losing_);
  for (CUcontext context : lost_) {
    const auto session = sessions_.find(context);
    if (session == sessions_.end()) continue;
    if (session->second.counter) session->second.counter->lose_context();
    sessions_.erase(session);
  }
  lost_.clear();
}

Tracer::Session& Tracer::session_of(CUcontext context) {
  Session& session = sessions_[context];
  if (session.counter) return session;
  session.counter = std::make_unique<LaunchCounter>(context);
  output_.write(session.counter->device());
  return session;
}

Tracer::Work& Tracer::work_of(const Launch& launch, const TracedFunction& function, int device) {
  const LaunchShape& shape = launch.shape;
  const std::string& range = range_.empty() ? settings_.range : innermost_range();
  const std::string key =
      fmt::format("{}\n{}\n{} {} {} {} {} {}", function.kernel, range, device, function.graph_kernels,
                  fmt::join(shape.grid, "x"), fmt::join(shape.block, "x"), fmt::join(shape.cluster, "x"),
                  shape.dynamic_smem);
  const auto [entry, is_new] = works_.try_emplace(key);
  Work& work = entry->second;
  if (!is_new) return work;
  work.record = {.kernel = function.kernel,
                 .range = range,
                 .graph_kernels = function.graph_kernels,
                 .device = device,
                 .shape = shape,
                 .counts = {}};
  if (function.graph_kernels == 0) add_attributes(launch.handle, work.record.shape);
  return work;
}

bool Tracer::may_count(Session& session, const Work& work) const {
  if (session.waiting == &work) return true;
  if (settings_.limit > 0 && work.counted >= settings_.limit) return false;
  if (!session.waiting) return true;
  if (++session.passed_by <= most_passed_by) return false;
  session.waiting->turns.give_up(session.waiting_set);
  session.counter->abandon();
  session.waiting = nullptr;
  return true;
}

void Tracer::start(const Launch& launch, const TracedFunction& function) {
  if (failed_) return;  // while this thread waited for its turn
  drop_lost_sessions();
  Session& session = session_of(launch.context);
  Work& work = work_of(launch, function, session.counter->device().index);
  if (!may_count(session, work)) return;
  const size_t set = session.waiting ? session.waiting_set
                                     : work.turns.next(session.counter->sets(), session.counter->enabled());
  session.counter->begin(set);
  running_ = {&session, &work, set};
}

void Tracer::stop(bool launched) {
  const auto [session, work, set] = running_;
  const std::optional<LaunchCounts> counts = session->counter->end();
  session->waiting = nullptr;
  session->passed_by = 0;
  if (!launched) {
    if (!counts) session->counter->abandon();
    return;
  }
  ++work->counted;
  if (!counts) {
    session->waiting = work;
    session->waiting_set = set;
    return;
  }
  work->turns.counted(session->counter->sets(), set, *counts);
  LaunchRecord record = work->record;
  record.counts = *counts;
  output_.write(record);
}

}  // namespace attnprof
