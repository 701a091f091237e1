// Tiles of 16-bit elements in shared memory: rows of `cols` elements in 16-byte chunks. The chunks of a row
// are permuted by XOR with its row number, so that the eight rows of an 8 x 8 matrix lie in different banks
// for any cols that is a multiple of 16. A tile starts at a multiple of 128 bytes.
#pragma once

#include "async_copy.cuh"
#include "element16.cuh"
#include "rederive.cuh"

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

template <int cols>
struct TileLayout {
  static constexpr int chunks = cols / chunk_elements;
  static constexpr int row_bytes = cols * 2;
  // All banks together hold 8 chunks. Rows r and r + 8 / group start in the same bank; they get different
  // XORs.
  static constexpr int group = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : 2;

  // Byte offset of a chunk. The permutation repeats every 8 rows.
  __device__ static constexpr uint32_t offset(int row, int chunk) {
    return static_cast<uint32_t>(row * row_bytes + (chunk ^ (row / (8 / group) % group)) * 16);
  }
  // The chunk `even_chunk` (even) columns right of one whose address is known: one XOR, and an immediate.
  __device__ static constexpr uint32_t right(uint32_t address, int even_chunk) {
    return (address ^ static_cast<uint32_t>(even_chunk % group * 16)) +
           static_cast<uint32_t>(even_chunk / group * group * 16);
  }
};

// Copies tiles of a [rows, cols] matrix in global memory to shared memory, by `threads` threads. Neighbouring
// threads take neighbouring chunks, so every 32-byte sector is asked for once.
template <int tile_rows, int cols, int threads>
struct TileCopy {
  using Layout = TileLayout<cols>;
  static constexpr int total = tile_rows * Layout::chunks;
  // Threads keep their column, so that addresses step by constants.
  static constexpr bool regular = total % threads == 0 && threads % Layout::chunks == 0;

  // Starts the copy of `rows` rows; those below them, up to tile_rows, become zeros and are not read.
  __device__ static void start(uint32_t tile, const Element* source, long long row_stride, int rows,
                               int thread_index) {
    const int thread = rederive(thread_index);
    if (regular && rows >= tile_rows) {
      constexpr int step = threads / Layout::chunks > 0 ? threads / Layout::chunks : 1;
      const int row = thread / Layout::chunks, chunk = thread % Layout::chunks;
      const Element* from = source + row * row_stride + chunk * chunk_elements;
#pragma unroll
      for (int i = 0; i < total / threads; ++i, from += step * row_stride)
        cp_async_16(tile + Layout::offset(row + i * step, chunk), from, true);
      return;
    }
#pragma unroll 1
    for (int index = thread; index < total; index += threads) {
      const int row = index / Layout::chunks, chunk = index % Layout::chunks;
      const bool valid = row < rows;
      cp_async_16(tile + Layout::offset(row, chunk),
                  source + (valid ? row * row_stride + chunk * chunk_elements : 0), valid);
    }
  }

  // The same where rows lie anywhere: `row_at(row)` is the address of one.
  template <typename RowAt>
  __device__ static void start_rows(uint32_t tile, RowAt row_at, int rows, int thread) {
#pragma unroll 1
    for (int index = thread; index < total; index += threads) {
      const int row = index / Layout::chunks, chunk = index % Layout::chunks;
      const bool valid = row < rows;
      cp_async_16(tile + Layout::offset(row, chunk), row_at(valid ? row : 0) + chunk * chunk_elements, valid);
    }
  }
};

// One warp writes `rows` rows of its tile_rows to global memory, in whole 16-byte vectors.
template <int tile_rows, int cols>
__device__ inline void store_warp_rows(Element* destination, long long row_stride, const unsigned char* tile,
                                       int first_tile_row, int rows, int lane) {
  using Layout = TileLayout<cols>;
#pragma unroll 4
  for (int index = lane; index < min(rows, tile_rows) * Layout::chunks; index += 32) {
    const int row = index / Layout::chunks, chunk = index % Layout::chunks;
    const uint4 value = *reinterpret_cast<const uint4*>(tile + Layout::offset(first_tile_row + row, chunk));
    __stcg(reinterpret_cast<uint4*>(destination + row * row_stride + chunk * chunk_elements), value);
  }
}
