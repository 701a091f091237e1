// What the driver hands out, owned: released in the destructor, never copied. A failing call throws
// CudaError.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "measure/gpu/driver.hpp"
#include "schedule/step.hpp"

namespace attnprof {

// The primary context of a device, current on the thread that made it: CUPTI and cuBLAS share it.
class Context {
 public:
  explicit Context(int device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void make_current() const;
  // False once an error has made the context unusable: every later call on it fails.
  bool alive() const;
  CUcontext get() const { return context_; }
  CUdevice device() const { return device_; }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void synchronise() const;
  CUstream get() const { return stream_; }

 private:
  CUstream stream_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(const Stream& stream) const;
  bool reached() const;
  void wait() const;
  CUevent get() const { return event_; }

 private:
  CUevent event_ = nullptr;
};

// Time from `start` to `end`, both reached.
double elapsed_ns(const Event& start, const Event& end);

class Module {
 public:
  explicit Module(const std::string& cubin);
  ~Module();
  Module(Module&& other) noexcept : module_(std::exchange(other.module_, nullptr)) {}
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUfunction function(const std::string& entry) const;

 private:
  CUmodule module_ = nullptr;
};

class DeviceBuffer {
 public:
  // With `guard` bytes on each side (measure/guard_bands.hpp), which are no part of it.
  explicit DeviceBuffer(int64_t bytes, int64_t guard = 0);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : pointer_(std::exchange(other.pointer_, 0)), bytes_(other.bytes_), guard_(other.guard_) {}
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  int64_t bytes() const { return bytes_; }
  CUdeviceptr address() const { return pointer_; }
  template <class T = void>
  T* get() const {
    return reinterpret_cast<T*>(pointer_);
  }
  // Enqueues: every byte becomes `value`.
  void fill(uint8_t value, const Stream& stream) const;
  // Enqueues: the guards become NaN.
  void fill_guards(const Stream& stream) const;
  // Bytes of the guards that are so no longer; waits.
  struct Overwritten {
    int64_t before, beyond;
  };
  Overwritten overwritten(const Stream& stream) const;
  // Copies `bytes` from or to the host, and waits.
  void upload(const void* host, int64_t bytes, const Stream& stream) const;
  void download(void* host, int64_t bytes, const Stream& stream) const;

 private:
  CUdeviceptr pointer_ = 0;
  int64_t bytes_ = 0, guard_ = 0;
};

// Enqueues one launch; `arguments`: the addresses of the kernel's parameters.
void launch(CUfunction function, const Dim3& grid, int threads, int64_t smem_bytes, const Stream& stream,
            void** arguments);

// The same with the parameters themselves.
template <class... Parameters>
void launch_with(CUfunction function, const Dim3& grid, int threads, const Stream& stream,
                 Parameters... parameters) {
  void* arguments[] = {&parameters...};
  launch(function, grid, threads, 0, stream, arguments);
}

int64_t free_device_bytes();

}  // namespace attnprof
