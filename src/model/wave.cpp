#include "model/wave.hpp"

#include <algorithm>

#include "model/block_traces.hpp"

namespace attnprof {
namespace {

bool same_columns(const Access& a, const Access& b) {
  return a.operand == b.operand && a.kind == b.kind && a.slice == b.slice && a.col == b.col &&
         a.cols == b.cols;
}

struct Pending {
  Access access{};
  SlotIndex slot = 0;
};

// Joins an access into the one before it where they are equal or the rows go on; false where not.
bool join(Pending& before, const Access& access) {
  Access& rows = before.access;
  if (!same_columns(rows, access)) return false;
  if (access.row == rows.row && access.rows == rows.rows) {
    before.slot = several_slots;
    return true;
  }
  if (access.row != rows.row + rows.rows) return false;
  rows.rows += access.rows;
  return true;
}

class Waves {
 public:
  Waves(const Schedule& schedule, int64_t resident, CountingMachine& machine, const Deadline& deadline)
      : blocks_(schedule, machine, deadline) {
    slots_.resize(static_cast<size_t>(std::min(std::max<int64_t>(resident, 1), schedule.ctas)));
    for (BlockSlot& slot : slots_) blocks_.refill(slot);
  }

  // One access of every resident block; false when all have finished.
  template <class Visit>
  bool turn(Visit&& visit) {
    bool any = false;
    Pending pending;
    for (size_t index = 0; index < slots_.size(); ++index) {
      BlockSlot& slot = slots_[index];
      if (!slot.busy) continue;
      const Access& access = slot.trace[slot.next];
      if (!any || !join(pending, access)) {
        if (any) visit(pending.access, pending.slot);
        pending = {access, static_cast<SlotIndex>(index)};
      }
      any = true;
      if (++slot.next == slot.trace.size()) blocks_.refill(slot);
    }
    if (any) visit(pending.access, pending.slot);
    return any;
  }

 private:
  BlockTraces blocks_;
  std::vector<BlockSlot> slots_;  // ended first: a paused block has a hold of blocks_
};

}  // namespace

void run_in_waves(const Schedule& schedule, int64_t resident, CountingMachine& machine,
                  const Deadline& deadline, const std::function<void(const Access&, SlotIndex)>& visit) {
  Waves waves(schedule, resident, machine, deadline);
  while (waves.turn(visit)) {
  }
}

}  // namespace attnprof
