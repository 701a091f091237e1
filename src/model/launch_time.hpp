// How long the SMs take for a launch's blocks: waves, occupancy, and what of a block's work nothing hides.
#pragma once

#include <cstdint>
#include <vector>

namespace attnprof {

// What a block takes in ns when `k` of its kind share an SM: alone + k * together.
struct BlockTime {
  double alone = 0;     // waits, and the part of its own warps' work that only they can do
  double together = 0;  // work that blocks of an SM queue up for
  bool operator==(const BlockTime&) const = default;
  double with(int k) const { return alone + k * together; }
};

// A block's work, in ns of a whole SM's rates.
struct BlockWork {
  double rounds = 0;   // times it waits
  double work_ns = 0;  // sum over the SM's units
};

// `warps`: of the block that compute; an SM has four schedulers, and a warp draws on one of them.
BlockTime block_time(const BlockWork& work, double round_ns, int warps);

struct LaunchTime {
  double ns = 0;       // until the last block ends
  double even_ns = 0;  // were every SM always full and all finished at once
};

// Blocks in launch order go to the `sms` in turn, up to `resident` each, then to whichever SM has room; all
// of them `copies` times, one after another. Throws nothing; no blocks take no time.
LaunchTime launch_time(const std::vector<BlockTime>& blocks, int64_t copies, int resident, int sms);

}  // namespace attnprof
