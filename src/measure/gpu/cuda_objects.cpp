#include "measure/gpu/cuda_objects.hpp"

#include <algorithm>
#include <vector>

#include "measure/guard_bands.hpp"

namespace attnprof {

Context::Context(int device) {
  ATTNPROF_CU(cuDeviceGet, &device_, device);
  ATTNPROF_CU(cuDevicePrimaryCtxRetain, &context_, device_);
  make_current();
}

Context::~Context() {
  driver().cuCtxSetCurrent(nullptr);
  driver().cuDevicePrimaryCtxRelease(device_);
}

void Context::make_current() const { ATTNPROF_CU(cuCtxSetCurrent, context_); }

bool Context::alive() const {
  return driver().cuCtxSetCurrent(context_) == CUDA_SUCCESS && driver().cuCtxSynchronize() == CUDA_SUCCESS;
}

Stream::Stream() { ATTNPROF_CU(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING); }
Stream::~Stream() { driver().cuStreamDestroy(stream_); }
void Stream::synchronise() const { ATTNPROF_CU(cuStreamSynchronize, stream_); }

Event::Event() { ATTNPROF_CU(cuEventCreate, &event_, CU_EVENT_DEFAULT); }
Event::~Event() {
  if (event_) driver().cuEventDestroy(event_);
}
void Event::record(const Stream& stream) const { ATTNPROF_CU(cuEventRecord, event_, stream.get()); }
void Event::wait() const { ATTNPROF_CU(cuEventSynchronize, event_); }

bool Event::reached() const {
  const CUresult result = driver().cuEventQuery(event_);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check_driver(result, "cuEventQuery(event_)");
  return true;
}

double elapsed_ns(const Event& start, const Event& end) {
  float milliseconds = 0;
  ATTNPROF_CU(cuEventElapsedTime, &milliseconds, start.get(), end.get());
  return static_cast<double>(milliseconds) * 1e6;
}

Module::Module(const std::string& cubin) { ATTNPROF_CU(cuModuleLoadData, &module_, cubin.data()); }
Module::~Module() {
  if (module_) driver().cuModuleUnload(module_);
}

CUfunction Module::function(const std::string& entry) const {
  CUfunction function = nullptr;
  ATTNPROF_CU(cuModuleGetFunction, &function, module_, entry.c_str());
  return function;
}

DeviceBuffer::DeviceBuffer(int64_t bytes, int64_t guard) : bytes_(bytes), guard_(guard) {
  ATTNPROF_CU(cuMemAlloc, &pointer_, static_cast<size_t>(std::max<int64_t>(bytes, 1) + 2 * guard));
  pointer_ += static_cast<CUdeviceptr>(guard);
}
DeviceBuffer::~DeviceBuffer() {
  if (pointer_) driver().cuMemFree(pointer_ - static_cast<CUdeviceptr>(guard_));
}

void DeviceBuffer::fill_guards(const Stream& stream) const {
  if (guard_ == 0) return;
  const auto size = static_cast<size_t>(guard_);
  ATTNPROF_CU(cuMemsetD8Async, pointer_ - size, guard_byte, size, stream.get());
  ATTNPROF_CU(cuMemsetD8Async, pointer_ + static_cast<size_t>(bytes_), guard_byte, size, stream.get());
}

DeviceBuffer::Overwritten DeviceBuffer::overwritten(const Stream& stream) const {
  const auto damage = [&](CUdeviceptr begin) {
    std::vector<uint8_t> band(static_cast<size_t>(guard_));
    if (band.empty()) return int64_t{0};
    ATTNPROF_CU(cuMemcpyDtoHAsync, band.data(), begin, band.size(), stream.get());
    stream.synchronise();
    return overwritten_bytes(band);
  };
  return {damage(pointer_ - static_cast<CUdeviceptr>(guard_)),
          damage(pointer_ + static_cast<CUdeviceptr>(bytes_))};
}

void DeviceBuffer::fill(uint8_t value, const Stream& stream) const {
  ATTNPROF_CU(cuMemsetD8Async, pointer_, value, static_cast<size_t>(bytes_), stream.get());
}

void DeviceBuffer::upload(const void* host, int64_t bytes, const Stream& stream) const {
  ATTNPROF_CU(cuMemcpyHtoDAsync, pointer_, host, static_cast<size_t>(bytes), stream.get());
  stream.synchronise();
}

void DeviceBuffer::download(void* host, int64_t bytes, const Stream& stream) const {
  ATTNPROF_CU(cuMemcpyDtoHAsync, host, pointer_, static_cast<size_t>(bytes), stream.get());
  stream.synchronise();
}

void launch(CUfunction function, const Dim3& grid, int threads, int64_t smem_bytes, const Stream& stream,
            void** arguments) {
  ATTNPROF_CU(cuLaunchKernel, function, static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
              static_cast<unsigned>(grid.z), static_cast<unsigned>(threads), 1, 1,
              static_cast<unsigned>(smem_bytes), stream.get(), arguments, nullptr);
}

int64_t free_device_bytes() {
  size_t free = 0, total = 0;
  ATTNPROF_CU(cuMemGetInfo, &free, &total);
  return static_cast<int64_t>(free);
}

}  // namespace attnprof
