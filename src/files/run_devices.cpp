#include "files/run_devices.hpp"

#include "files/meta.hpp"
#include "roofline/resources.hpp"

namespace attnprof {

const DeviceOfRun& RunDevices::of(const Row& row) {
  const auto key = std::tuple(row.provenance.run, row.provenance.device, row.identity.word("dtype"));
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  DeviceOfRun known{.device = device_of_run(row.provenance.device, {}), .ceilings = {}};
  if (file_.meta) {
    const std::string meta = meta_path(file_.path);
    known.device = device_of_run(row.provenance.device, find_peaks(*file_.meta, row.provenance.run, meta));
    known.ceilings = find_ceilings(*file_.meta, row.provenance.run, meta);
  }
  known.reached = at_ceilings(known.device, known.ceilings, dtype_of(row));
  return known_.emplace(key, std::move(known)).first->second;
}

}  // namespace attnprof
