#include "model/wave.hpp"

#include <algorithm>

namespace attnprof {
namespace {

// Where the device runs one block after another.
struct Slot {
  std::vector<Access> trace;
  size_t next = 0;
  bool busy = false;
};

bool same_columns(const Access& a, const Access& b) {
  return a.operand == b.operand && a.write == b.write && a.slice == b.slice && a.col == b.col &&
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
  Waves(const Schedule& schedule, int64_t resident, CountingMachine& machine)
      : schedule_(schedule), machine_(machine) {
    slots_.resize(static_cast<size_t>(std::min(std::max<int64_t>(resident, 1), schedule.ctas)));
    for (Slot& slot : slots_) refill(slot);
  }

  // One access of every resident block; false when all have finished.
  template <class Visit>
  bool turn(Visit&& visit) {
    bool any = false;
    Pending pending;
    for (size_t index = 0; index < slots_.size(); ++index) {
      Slot& slot = slots_[index];
      if (!slot.busy) continue;
      const Access& access = slot.trace[slot.next];
      if (!any || !join(pending, access)) {
        if (any) visit(pending.access, pending.slot);
        pending = {access, static_cast<SlotIndex>(index)};
      }
      any = true;
      if (++slot.next == slot.trace.size()) refill(slot);
    }
    if (any) visit(pending.access, pending.slot);
    return any;
  }

 private:
  // The next block that accesses anything.
  void refill(Slot& slot) {
    slot.trace.clear();
    slot.next = 0;
    while (slot.trace.empty() && next_cta_ < schedule_.ctas) {
      machine_.record_into(&slot.trace);
      schedule_.run(next_cta_++, machine_);
    }
    machine_.record_into(nullptr);
    slot.busy = !slot.trace.empty();
  }

  const Schedule& schedule_;
  CountingMachine& machine_;
  std::vector<Slot> slots_;
  int64_t next_cta_ = 0;
};

}  // namespace

void run_in_waves(const Schedule& schedule, int64_t resident, CountingMachine& machine,
                  const std::function<void(const Access&, SlotIndex)>& visit) {
  Waves waves(schedule, resident, machine);
  while (waves.turn(visit)) {
  }
}

}  // namespace attnprof
