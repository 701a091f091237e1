#include "model/block_traces.hpp"

namespace attnprof {
namespace {

struct Long {};  // thrown out of a block that does not fit in a list

}  // namespace

BlockTraces::BlockTraces(const Schedule& schedule, CountingMachine& machine, const Deadline& deadline)
    : schedule_(schedule), machine_(machine), deadline_(deadline) {
  machine_.call_every(stretch_accesses, [this] { end_stretch(); });
}

void BlockTraces::refill(BlockSlot& slot) {
  constexpr int64_t refills_a_check = 1024;
  slot.trace.clear();
  slot.next = 0;
  do {
    if (++refills_ % refills_a_check == 0) deadline_.check();
    machine_.record_into(&slot.trace);
    machine_.count_anew();
    if (slot.paused)
      run_on(slot, -1);
    else if (next_cta_ < schedule_.ctas)
      begin(slot, next_cta_++);
    else
      break;
  } while (slot.trace.empty());
  machine_.record_into(nullptr);
  slot.busy = !slot.trace.empty();
}

void BlockTraces::begin(BlockSlot& slot, int64_t cta) {
  if (!long_blocks_ && fits_in_a_list(slot, cta)) return;
  long_blocks_ = true;
  run_on(slot, cta);
}

// Most blocks do, and need no stack of their own. One that does not is begun again.
bool BlockTraces::fits_in_a_list(BlockSlot& slot, int64_t cta) {
  const SmTraffic before = machine_.traffic();
  try {
    schedule_.run(cta, machine_);
    return true;
  } catch (const Long&) {
    machine_.set_traffic(before);
    machine_.count_anew();
    slot.trace.clear();
    return false;
  }
}

// On the slot's own stack, up to the end of a stretch: a block from its begin, or (-1) the paused one.
void BlockTraces::run_on(BlockSlot& slot, int64_t cta) {
  if (!slot.fiber) slot.fiber = std::make_unique<Fiber>(block_stack_bytes);
  running_ = slot.fiber.get();
  slot.paused = cta < 0 ? running_->resume() : running_->start([this, cta] { schedule_.run(cta, machine_); });
  running_ = nullptr;
}

void BlockTraces::end_stretch() {
  if (!running_) throw Long{};
  running_->pause();
}

}  // namespace attnprof
