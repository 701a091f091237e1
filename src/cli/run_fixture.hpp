// A command whole, but for main: its exit code and what it printed.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.hpp"
#include "testing/captured.hpp"
#include "testing/fake_backend.hpp"

namespace attnprof {

using Args = std::vector<std::string>;
using Change = std::function<void(FakeBackend&)>;

struct Result {
  int code;
  std::string out, err;
};

inline Result run_on(const Args& args, const BackendOpener& open) {
  int code = 0;
  Printed printed = printed_by([&] { code = run_command_line(args, open); });
  return {code, std::move(printed.out), std::move(printed.err)};
}

// On a backend that answers with fixed numbers.
inline Result run(const Args& args, const Change& setup = {}) { return run_on(args, opener(setup)); }

}  // namespace attnprof
