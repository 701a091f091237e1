// The machine a variant's schedule runs on. A schedule says, block by block and in order, which tiles it
// reads and writes and how many operations it executes. One machine counts, another also computes: what is
// modelled and what is simulated can then not drift apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "attention_params.h"

namespace attnprof {

// A rectangle of one (batch, head) slice of an operand, in elements, clipped to the operand: what is really
// moved.
struct Region {
  OperandId operand;
  int64_t slice;  // batch * operand.heads + head
  int64_t row;
  int64_t rows;
  int64_t col;
  int64_t cols;
};

// The numbers of a region, row-major rows x cols in fp32. Empty when the machine only counts.
struct TileValues {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<float> values;

  float& at(int64_t row, int64_t col) { return values[static_cast<size_t>(row * cols + col)]; }
  float at(int64_t row, int64_t col) const { return values[static_cast<size_t>(row * cols + col)]; }
};

enum class AccessKind : unsigned char {
  read,
  write,
  reduce,  // added to what is there, by atomics or a bulk reduction: memory is read and written, by L2
};

enum class Unit {
  tensor,  // FLOPs of tensor core instructions, padded and masked tiles included (2 m n k a product)
  fma,     // FLOPs of fp32 FMA pipes in matrix products (2 a multiply-add)
  exp,     // exponentials
  // What tells how long a block takes, beside what it executes (model/launch_time.hpp):
  smem,    // bytes of shared memory that products read, and that are written for them
  direct,  // bytes that a warp moves between registers and L2 itself, and waits for
  round,   // times a block waits: for its next tiles, for all its warps
};
inline constexpr size_t unit_count = 6;

class TileMachine {
 public:
  virtual ~TileMachine() = default;
  // Global memory to the SM and back; each call is one transfer of the region, bypassing L1.
  virtual TileValues read(const Region& region) = 0;
  virtual void write(const Region& region, const TileValues& values) = 0;
  // Adds to what is in memory, as atomics do: blocks may add to one region. Only in a schedule that says so
  // (Schedule::reduces).
  virtual void add(const Region& region, const TileValues& values) = 0;
  // Bytes that arrive at the SM out of no operand: what a TMA box has beyond its tensor comes as zeros, and
  // an H200 counts it like data (l1tex__m_xbar2l1tex_read_bytes), though neither L2 nor HBM serves it.
  virtual void receive_zeros(int64_t /*bytes*/) {}
  virtual void execute(Unit unit, int64_t operations) = 0;
  // True when tiles carry numbers; a schedule does its arithmetic only then.
  virtual bool numeric() const = 0;
};

// What one launch does: `ctas` thread blocks in launch order (block index x fastest).
struct Schedule {
  int64_t ctas = 0;
  std::function<void(int64_t cta, TileMachine& machine)> run;
  // False where the tiles are assumed, not ours (a library's GEMM): HBM bytes can be modelled, SM bytes and
  // executed FLOPs are reported by sim but not held against the counters.
  bool exact = true;
  // Blocks take up one kv head after another, or these many at once.
  int64_t kv_heads_together = 1;
  bool reduces = false;  // blocks add to the same regions: numbers are right in whatever order they run
};

}  // namespace attnprof
