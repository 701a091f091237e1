#include "model/chunk_grid.hpp"

#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Below this many rows or columns an access is a row or column walk, not a tile; walks of neighbouring blocks
// are joined before they reach the grid.
constexpr int64_t smallest_tile = 16;

// The smallest tile side among `sides`, or their largest where none is a tile's.
class Side {
 public:
  void add(int64_t side) {
    largest_ = std::max(largest_, side);
    if (side >= smallest_tile && (smallest_ == 0 || side < smallest_)) smallest_ = side;
  }
  int64_t choice() const { return smallest_ > 0 ? smallest_ : std::max<int64_t>(largest_, 1); }

 private:
  int64_t smallest_ = 0;
  int64_t largest_ = 0;
};

// A tile clipped by the operand's edge says nothing of the grid, unless it starts at the other edge.
bool clipped(int64_t first, int64_t size, int64_t whole) { return first > 0 && first + size == whole; }

}  // namespace

ChunkGrid::ChunkGrid(const OperandList& operands, const std::vector<Access>& samples, int64_t max_chunks)
    : cells_(operand_ids) {
  std::vector<Side> rows(operand_ids), cols(operand_ids);
  for (const Access& access : samples) {
    const auto index = static_cast<size_t>(access.operand);
    const Operand& operand = operands[access.operand];
    if (!clipped(access.row, access.rows, operand.rows)) rows[index].add(access.rows);
    if (!clipped(access.col, access.cols, operand.cols)) cols[index].add(access.cols);
  }
  for (const Operand& operand : operands) {
    const auto index = static_cast<size_t>(operand.id);
    cells_[index] = {operand.slices(),     operand.rows,
                     operand.row_pitch,    bytes_per_element(operand.dtype),
                     rows[index].choice(), cols[index].choice()};
  }
  number_chunks();
  coarsen(max_chunks);
}

void ChunkGrid::number_chunks() {
  size_ = 0;
  for (Cells& cells : cells_) {
    cells.grid_rows = ceil_div(cells.operand_rows, cells.rows);
    cells.grid_cols = ceil_div(cells.operand_cols, cells.cols);
    cells.first = size_;
    size_ += cells.count();
  }
}

void ChunkGrid::coarsen(int64_t max_chunks) {
  while (size_ > max_chunks) {
    Cells& most = *std::ranges::max_element(cells_, {}, &Cells::count);
    if (most.grid_cols > 1)
      most.cols *= 2;
    else if (most.grid_rows > 1)
      most.rows *= 2;
    else
      return;
    number_chunks();
  }
}

std::vector<uint32_t> ChunkGrid::chunk_bytes() const {
  std::vector<uint32_t> bytes;
  bytes.reserve(static_cast<size_t>(size_));
  for (const Cells& c : cells_)
    for (int64_t slice = 0; slice < c.slices; ++slice)
      for (int64_t row = 0; row < c.operand_rows; row += c.rows)
        for (int64_t col = 0; col < c.operand_cols; col += c.cols)
          bytes.push_back(static_cast<uint32_t>(std::min(c.rows, c.operand_rows - row) *
                                                std::min(c.cols, c.operand_cols - col) * c.element));
  return bytes;
}

}  // namespace attnprof
