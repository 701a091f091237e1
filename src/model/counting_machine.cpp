#include "model/counting_machine.hpp"

namespace attnprof {
namespace {

constexpr int64_t sector = 32;

// Bytes of the sectors that [begin, begin + size) touches.
int64_t run_sectors(int64_t begin, int64_t size) {
  const int64_t end = (begin + size + sector - 1) / sector * sector;
  return end - begin / sector * sector;
}

}  // namespace

int64_t sector_bytes(const Operand& operand, const Region& region) {
  if (region.rows <= 0 || region.cols <= 0) return 0;
  const int64_t element = bytes_per_element(operand.dtype);
  const int64_t pitch = operand.row_pitch * element;
  const int64_t row = region.slice * operand.rows + region.row;
  const int64_t begin = row * pitch + region.col * element;
  const int64_t size = region.cols * element;
  if (region.cols == operand.row_pitch) return run_sectors(begin, size * region.rows);
  if (pitch % sector == 0) return region.rows * run_sectors(begin, size);
  int64_t bytes = 0;
  for (int64_t i = 0; i < region.rows; ++i) bytes += run_sectors(begin + i * pitch, size);
  return bytes;
}

CountingMachine::CountingMachine(const OperandList& operands) : operands_(operands) {}

TileValues CountingMachine::read(const Region& region) {
  transfer(region, AccessKind::read);
  return {};
}

void CountingMachine::write(const Region& region, const TileValues&) { transfer(region, AccessKind::write); }
void CountingMachine::add(const Region& region, const TileValues&) { transfer(region, AccessKind::reduce); }

void CountingMachine::execute(Unit unit, int64_t operations) {
  switch (unit) {
    case Unit::tensor:
      traffic_.tensor_flops += operations;
      return;
    case Unit::fma:
      traffic_.fma_flops += operations;
      return;
    case Unit::exp:
      traffic_.exponentials += operations;
      return;
    case Unit::smem:
      traffic_.smem_bytes += operations;
      return;
    case Unit::direct:
      traffic_.direct_bytes += operations;
      return;
    case Unit::round:
      traffic_.rounds += operations;
      return;
  }
}

void CountingMachine::transfer(const Region& region, AccessKind kind) {
  const Operand& operand = operands_[region.operand];
  const int64_t bytes = sector_bytes(operand, region);
  (kind == AccessKind::read ? traffic_.read_bytes : traffic_.write_bytes) += bytes;
  if (operand.is_score_matrix) traffic_.intermediate_bytes += bytes;
  ++traffic_.accesses;
  if (trace_ && bytes > 0)
    trace_->push_back({region.operand, static_cast<int32_t>(region.slice), static_cast<int32_t>(region.row),
                       static_cast<int32_t>(region.rows), static_cast<int32_t>(region.col),
                       static_cast<int32_t>(region.cols), kind});
  if (traffic_.accesses >= next_call_) call();
}

}  // namespace attnprof
