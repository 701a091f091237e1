// Result files as tests of the roofline need them.
#pragma once

#include "draw/roofline_data.hpp"
#include "testing/row_identity.hpp"

namespace attnprof {

// A row at 200 useful FLOP a byte of HBM and 25 at the SMs: 4 GFLOP in 100 us, 40 TFLOP/s; the tensor cores
// execute 5 GFLOP.
inline Row roofline_row(const std::string& variant = "flash2", const std::string& device = "NVIDIA H200") {
  Row row;
  row.identity = row_identity(variant, 1, 1024);
  row.provenance = {"1", "r1", "e1", "gpu", device};
  row.status.disposition = "ok";
  row.verify.verified = "yes";
  row.latency.median_ns = 100'000;
  row.model.useful_flops = 4'000'000'000;
  row.counters.bytes_source = "cupti";
  row.counters.hbm_total = 20'000'000;
  row.counters.sm_total = 160'000'000;
  row.counters.executed_tensor_flops = 5'000'000'000;
  row.roofline.useful_tflops_per_s = 40;
  row.roofline.hbm_intensity = 200;
  row.roofline.sm_intensity = 25;
  return row;
}

// As a peer's: no counters.
inline Row peer_row() {
  Row row = roofline_row("torch_flash");
  row.counters = {};
  row.counters.bytes_source = "none";
  row.roofline.hbm_intensity = row.roofline.sm_intensity = std::nullopt;
  return row;
}

inline Row row_that_is(const std::string& disposition) {
  Row row = roofline_row();
  row.status.disposition = disposition;
  return row;
}

inline RooflineData roofline_of(const std::vector<Row>& rows, std::vector<std::string>& notices,
                                const std::optional<std::string>& meta = {}) {
  return collect_roofline({{"rows.csv", rows, meta}}, notices);
}

inline RooflineData roofline_of(const std::vector<Row>& rows) {
  std::vector<std::string> notices;
  return roofline_of(rows, notices);
}

}  // namespace attnprof
