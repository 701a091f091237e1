// `attnprof sweep` whole, but for main, with a backend that answers with fixed numbers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/run_fixture.hpp"
#include "row/row_csv.hpp"
#include "testing/run_id.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {

// Four cases: two lengths of naive and flash2.
inline Args plan(Args more = {}) {
  Args args = {"sweep", "--variant", "naive,flash2", "-N", "512,1k", "-d", "64"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

inline std::vector<std::string> dispositions(const std::string& file) {
  std::vector<std::string> all;
  for (const Row& row : read_rows(file).rows) all.push_back(row.status.disposition);
  return all;
}

}  // namespace attnprof
