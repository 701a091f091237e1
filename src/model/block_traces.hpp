// The accesses of the blocks that are on the device at once: a short block's as a list, a long one's a
// stretch at a time, so that however long blocks are, what is kept of them is not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/deadline.hpp"
#include "base/fiber.hpp"
#include "model/counting_machine.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

// Accesses of one block that are kept at a time.
inline constexpr int64_t stretch_accesses = 1024;
// Of a block that pauses: what a schedule keeps on it.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr size_t block_stack_bytes = 512 * 1024;
#else
inline constexpr size_t block_stack_bytes = 64 * 1024;
#endif

// A place on the device for one block after another.
struct BlockSlot {
  std::vector<Access> trace;     // of the running block, from where the last stretch ended
  size_t next = 0;               // in it
  std::unique_ptr<Fiber> fiber;  // of a long block
  bool paused = false;           // the block has more than `trace`
  bool busy = false;
};

// Of the host's memory: what a place takes whose blocks make `accesses`.
inline double slot_host_bytes(int64_t accesses) {
  constexpr double touched_stack = 16 * 1024;
  const auto kept = static_cast<double>(std::min(accesses, stretch_accesses) * int64_t{sizeof(Access)});
  // A list that grows has up to twice what is in it.
  return sizeof(BlockSlot) + 2 * kept + (accesses > stretch_accesses ? touched_stack : 0);
}

class BlockTraces {
 public:
  BlockTraces(const Schedule& schedule, CountingMachine& machine, const Deadline& deadline);
  ~BlockTraces() { machine_.never_call(); }
  BlockTraces(const BlockTraces&) = delete;  // the machine calls it
  BlockTraces& operator=(const BlockTraces&) = delete;

  // The next stretch: of the slot's block, or of the next block that accesses anything; slot.busy says
  // whether there is one. Throws OutOfTime.
  void refill(BlockSlot& slot);

 private:
  void begin(BlockSlot& slot, int64_t cta);
  bool fits_in_a_list(BlockSlot& slot, int64_t cta);
  void run_on(BlockSlot& slot, int64_t cta);
  void end_stretch();

  const Schedule& schedule_;
  CountingMachine& machine_;
  const Deadline& deadline_;
  Fiber* running_ = nullptr;  // of the block that accesses now; null: it is on our own stack
  int64_t next_cta_ = 0;
  int64_t refills_ = 0;
  bool long_blocks_ = false;  // one was, so that the next may be
};

}  // namespace attnprof
