// A machine that moves nothing: it counts what crosses the SM's border and what is executed, and can keep the
// list of accesses for the L2 model.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "problem/operands.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

// Global memory moves in sectors of 32 bytes: what a region costs, counted run by run of contiguous bytes.
int64_t sector_bytes(const Operand& operand, const Region& region);

// One transfer, in elements; small, because millions are kept.
struct Access {
  OperandId operand;
  int32_t slice;
  int32_t row;
  int32_t rows;
  int32_t col;
  int32_t cols;
  AccessKind kind;
};

struct SmTraffic {
  int64_t read_bytes = 0;
  int64_t write_bytes = 0;         // reductions too: their values leave the SM, none come back
  int64_t intermediate_bytes = 0;  // the part that is S and P
  int64_t tensor_flops = 0;
  int64_t fma_flops = 0;
  int64_t exponentials = 0;
  int64_t smem_bytes = 0;    // Unit::smem
  int64_t direct_bytes = 0;  // Unit::direct
  int64_t rounds = 0;        // Unit::round
  int64_t accesses = 0;
};

class CountingMachine : public TileMachine {
 public:
  explicit CountingMachine(const OperandList& operands);

  TileValues read(const Region& region) override;
  void write(const Region& region, const TileValues& values) override;
  void add(const Region& region, const TileValues& values) override;
  void receive_zeros(int64_t bytes) override { traffic_.read_bytes += bytes; }
  void execute(Unit unit, int64_t operations) override;
  bool numeric() const override { return false; }

  // Where accesses are appended from now on; null: only counted.
  void record_into(std::vector<Access>* trace) { trace_ = trace; }
  // Calls `call` after every `accesses` further ones: it may throw, which ends the block, or pause it.
  void call_every(int64_t accesses, std::function<void()> call) {
    call_ = std::move(call), every_ = accesses;
    count_anew();
  }
  void never_call() { next_call_ = std::numeric_limits<int64_t>::max(); }
  void count_anew() { next_call_ = traffic_.accesses + every_; }
  const SmTraffic& traffic() const { return traffic_; }
  void set_traffic(const SmTraffic& traffic) { traffic_ = traffic; }

 private:
  void transfer(const Region& region, AccessKind kind);
  void call() {
    next_call_ += every_;
    call_();
  }

  const OperandList& operands_;
  std::vector<Access>* trace_ = nullptr;
  SmTraffic traffic_;
  std::function<void()> call_;
  int64_t every_ = 0, next_call_ = std::numeric_limits<int64_t>::max();
};

}  // namespace attnprof
