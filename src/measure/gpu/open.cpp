#include "measure/gpu/open.hpp"

#include <optional>

#include "measure/compile/compile_plan.hpp"
#include "measure/gpu/gpu_backend.hpp"
#include "measure/worker.hpp"
#include "plugin/own_variants.hpp"
#include "schedule/compiled_part.hpp"

namespace attnprof {
namespace {

// Kernels are compiled in the parent, into the cache that the worker reads: a compilation survives the worker
// and does not count against a case's time-out.
struct Compilation {
  KernelCompiler compiler;
  DeviceProfile device;
  std::optional<CompileAhead> ahead;

  void announce(const std::vector<Case>& cases) {
    ahead.reset();
    ahead.emplace(cases, device, compiler);
  }
  void finish(const Case& c) {
    for (const Step& step : c.steps)
      if (const KernelLaunch* kernel = compiled_part(step)) compiler.compile(*kernel, device.arch);
  }
};

class GpuWorkerBackend : public WorkerBackend {
 public:
  explicit GpuWorkerBackend(const MeasureOptions& options)
      : WorkerBackend({"/proc/self/exe", "worker"}, options),
        compilation_{KernelCompiler(compile_options(options)), info().device, std::nullopt} {}

  void announce(const std::vector<Case>& cases) override {
    rest_plugin_hosts();
    compilation_.announce(cases);
  }
  Build prepare(const Case& c) override {
    compilation_.finish(c);
    return WorkerBackend::prepare(c);
  }

 private:
  Compilation compilation_;
};

}  // namespace

// The worker comes first: without a driver, its sentence matters more than that of a missing compiler.
std::unique_ptr<Backend> open_gpu_backend(const MeasureOptions& options) {
  return std::make_unique<GpuWorkerBackend>(options);
}

int serve_gpu_worker() { return serve_worker(make_gpu_backend); }

}  // namespace attnprof
