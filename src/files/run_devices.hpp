// The devices of a result file's runs, with what their runs recorded of them.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "files/result_rows.hpp"
#include "roofline/roofs.hpp"

namespace attnprof {

struct DeviceOfRun {
  RunDevice device;
  Ceilings ceilings;       // measured ones; none where the run has none
  RunDevice reached = {};  // the device at them, as the row's dtype sees it: what its roofs are
};

// Each looked up once. Throws UsageError for a malformed .meta.json.
class RunDevices {
 public:
  explicit RunDevices(const ResultFile& file) : file_(file) {}
  const DeviceOfRun& of(const Row& row);

 private:
  const ResultFile& file_;
  std::map<std::tuple<std::string, std::string, std::string>, DeviceOfRun> known_;  // by run, device, dtype
};

}  // namespace attnprof
