// Operands cut into chunks, the unit the L2 model remembers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/counting_machine.hpp"
#include "problem/operands.hpp"

namespace attnprof {

// A fixed grid over each slice of each operand. Its cells are the smallest tiles that schedules use, so that
// a step that writes S in tiles and one that reads it in rows meet in the same chunks.
class ChunkGrid {
 public:
  // `samples`: some accesses of every step. Above `max_chunks` in all, cells are doubled until they fit.
  ChunkGrid(const OperandList& operands, const std::vector<Access>& samples, int64_t max_chunks);

  int64_t size() const { return size_; }
  std::vector<uint32_t> chunk_bytes() const;  // by chunk

  // Calls visit(chunk, bytes) for every chunk an access touches, with the bytes it touches there.
  template <class Visit>
  void for_each(const Access& access, Visit&& visit) const {
    const Cells& cells = cells_[static_cast<size_t>(access.operand)];
    const int64_t first_row = access.row / cells.rows, last_row = (access.row + access.rows - 1) / cells.rows;
    const int64_t first_col = access.col / cells.cols, last_col = (access.col + access.cols - 1) / cells.cols;
    for (int64_t i = first_row; i <= last_row; ++i) {
      const int64_t rows = overlap(access.row, access.rows, i * cells.rows, cells.rows);
      const int64_t line = cells.first + (access.slice * cells.grid_rows + i) * cells.grid_cols;
      for (int64_t j = first_col; j <= last_col; ++j)
        visit(static_cast<uint32_t>(line + j),
              static_cast<uint32_t>(rows * overlap(access.col, access.cols, j * cells.cols, cells.cols) *
                                    cells.element));
    }
  }

 private:
  struct Cells {
    int64_t slices = 0, operand_rows = 0, operand_cols = 0, element = 0;
    int64_t rows = 1, cols = 1;  // of a cell
    int64_t grid_rows = 1, grid_cols = 1;
    int64_t first = 0;  // number of the operand's first chunk
    int64_t count() const { return slices * grid_rows * grid_cols; }
  };

  static int64_t overlap(int64_t a, int64_t a_size, int64_t b, int64_t b_size) {
    return std::min(a + a_size, b + b_size) - std::max(a, b);
  }
  void number_chunks();
  void coarsen(int64_t max_chunks);

  std::vector<Cells> cells_;  // by OperandId; none of an operand that is not there
  int64_t size_ = 0;
};

}  // namespace attnprof
