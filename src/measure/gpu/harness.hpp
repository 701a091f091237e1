// The kernels of kernels/lib/harness.cu on one device. Every call only enqueues.
#pragma once

#include <string_view>

#include "lib/harness_params.h"
#include "measure/gpu/cuda_objects.hpp"
#include "problem/inputs.hpp"

namespace attnprof {

// For compile(): all of harness.cu is one module.
KernelLaunch harness_kernel();

class Harness {
 public:
  Harness(const std::string& cubin, int sms);

  // What input_elements (problem/inputs.hpp) gives on the host.
  void fill_input(const DeviceBuffer& data, const Operand& operand, const InputSource& source,
                  const Stream& stream) const;
  // The same for a tensor that is no operand.
  void fill_random(const DeviceBuffer& data, int64_t elements, ElementType type, const InputSource& source,
                   unsigned tensor, const Stream& stream) const;
  // Reads `bytes` (a multiple of 16) from the buffer's start past L1.
  void read(const DeviceBuffer& data, int64_t bytes, const Stream& stream) const;
  // Keeps the stream busy and memory idle.
  void spin(int64_t nanoseconds, const Stream& stream) const;
  // Runs a kernel of reference.cuh by its name (DeviceReference); `items`: rows it works on.
  void run_reference(std::string_view kernel, int64_t items, const ReferenceParams& params,
                     const Stream& stream) const;
  // gathered[n, c] = data[rows[n], c] in fp32.
  void gather_rows(const DeviceBuffer& data, ElementType type, const DeviceBuffer& rows, int64_t row_count,
                   int64_t columns, const DeviceBuffer& gathered, const Stream& stream) const;
  // Adds the number of infinite or NaN elements to *count (8 bytes, zeroed by the caller).
  void count_not_finite(const DeviceBuffer& data, int64_t elements, ElementType type,
                        const DeviceBuffer& count, const Stream& stream) const;

  // Known sizes for the counters' self-test; `bytes`: a multiple of 16, for the bulk copy of 8192. The bulk
  // copy needs compute capability 9.0 and copies nothing before it.
  void copy_plain(const DeviceBuffer& source, const DeviceBuffer& target, int64_t bytes,
                  const Stream& stream) const;
  void fill_plain(const DeviceBuffer& target, int64_t bytes, uint32_t value, const Stream& stream) const;
  void copy_bulk(const DeviceBuffer& source, const DeviceBuffer& target, int64_t bytes,
                 const Stream& stream) const;

 private:
  Dim3 grid(int64_t blocks_needed) const;

  Module module_;
  int64_t sms_;
  CUfunction fill_random_, fill_scales_, evict_read_, spin_, gather_rows_, count_not_finite_;
  CUfunction copy_plain_, fill_plain_, copy_bulk_;
  DeviceBuffer sink_;
};

}  // namespace attnprof
