// What `attnprof list` is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags/format.hpp"
#include "run/open_backend.hpp"

namespace attnprof {

struct ListOptions {
  DeviceChoice device;
  std::vector<int64_t> head_dims = {64, 128};
  std::vector<Dtype> dtypes = {Dtype::fp16};
  bool columns = false;  // the row schema instead of the variants
  bool rules = false;    // or what cases are verified and timed by
  bool levels = false;   // or the memory levels
  Format format = Format::table;
};

}  // namespace attnprof
