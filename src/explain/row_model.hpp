// A row of a result file with what explains it: its case, its device's rates, and the model of its time.
#pragma once

#include <optional>
#include <string>

#include "model/time_model.hpp"
#include "roofline/resources.hpp"
#include "row/row.hpp"

namespace attnprof {

// The case a row is of, its tile and knobs as the row resolved them. Nothing for a variant, a problem or a
// knob that this program does not have.
std::optional<Case> case_of_row(const Row& row, const DeviceProfile& device);

struct RowModel {
  const Row* row = nullptr;
  DeviceProfile device;  // at the row's SM clock
  Rates rates;           // ceilings where the run has them
  Rates nominal;         // what the model of time was fitted with
  MemoryShares shares;
  std::optional<Case> c;  // without its launches
  std::optional<TimeModel> time;

  Unseen unseen() const;  // what the schedule adds to the row's columns
  double latency_ns() const { return *row->latency.median_ns; }
};

// `device`: as device_of_run has it.
RowModel model_row(const Row& row, const DeviceProfile& device, const Ceilings& ceilings);

// The model's time of the row's problem with another tile, through what the row's own time is of its model's:
// nothing where the tile cannot run or the row is not modelled.
std::optional<double> predict_tile_ns(const RowModel& of, int br, int bc);

}  // namespace attnprof
