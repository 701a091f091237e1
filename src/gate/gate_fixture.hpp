// One measured row, changed, held against itself.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "gate/gate.hpp"
#include "row/schema.hpp"
#include "testing/gate_files.hpp"

namespace attnprof {

using Change = std::function<void(Row&)>;

inline Row changed(const Change& change) {
  Row row = measured_row();
  change(row);
  return row;
}

// One row against itself after `change`.
inline Outcome after(const Change& change, const GateOptions& options = {}) {
  return gate_texts(csv_of({measured_row()}), csv_of({changed(change)}), options);
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace attnprof
