// What flash3's host side and its kernels must agree on; plain C++ for both.
#pragma once

#include "host_device.h"

// Keys are permuted within groups of this many, and a row of V^T is a multiple of it long: its rows then
// start on a 32-byte sector.
constexpr int v_column_group = 32;

// The column of V^T that holds key `key`; a permutation of each group of v_column_group. Of 16 keys, a thread
// has in its accumulators of S the keys 2t, 2t + 1, 8 + 2t, 9 + 2t, and in an A operand of 8-bit elements the
// columns 4t to 4t + 3 (PTX ISA, wgmma register fragments): in this order P needs no shuffle.
ATTNPROF_HOST_DEVICE constexpr int v_column(int key) {
  return key / 16 * 16 + key % 8 / 2 * 4 + key % 16 / 8 * 2 + key % 2;
}

// The key in column `column` of V^T: the inverse.
ATTNPROF_HOST_DEVICE constexpr int v_key(int column) {
  const int first = column / v_column_group * v_column_group;
  for (int key = first; key < first + v_column_group; ++key)
    if (v_column(key) == column) return key;
  return -1;  // v_column is no permutation
}

// P is 2^probability_exponent exp(s - m) before it is rounded to e4m3, and O is divided by as much. m may lag
// behind the true maximum as long as P stays under 448, where e4m3 ends (flash3.cu); 2^-10 is still a normal
// number.
constexpr int probability_exponent = 4;

// flash3_transpose_v: keys a block turns, and its threads.
constexpr int transpose_v_keys = 128;
constexpr int transpose_v_threads = 256;

// A tile's rows are stored in panels this wide, the widest swizzle that divides them, one behind the other.
ATTNPROF_HOST_DEVICE constexpr int flash3_panel_width(int row_bytes) {
  return row_bytes % 128 == 0 ? 128 : row_bytes % 64 == 0 ? 64 : 32;
}

// What a consumer warpgroup is told of a tile of Q; of two tiles by turns.
constexpr int flash3_work_bytes = 16;

// Dynamic shared memory: Q, 64 rows a consumer, `stages` tiles of K and of V, a full and an empty barrier for
// each of them, and the work of each consumer.
ATTNPROF_HOST_DEVICE constexpr int flash3_smem_bytes(int consumers, int head_dim, int bc, int element_bytes,
                                                     int stages) {
  return consumers * 64 * head_dim * element_bytes + stages * 2 * bc * head_dim * element_bytes +
         8 * (4 * stages + 2 * consumers) + 2 * consumers * flash3_work_bytes;
}

// A block starts with this many registers a thread, `blocks` of it on an SM; its warpgroups then share them
// out by role. A warpgroup that asks for more than there are would wait for ever.
ATTNPROF_HOST_DEVICE constexpr int flash3_registers_at_start(int consumers, int blocks) {
  const int registers = 65536 / blocks / (128 * (consumers + 1));
  return (registers < 255 ? registers : 255) / 8 * 8;
}
// What a consumer holds at once: fp32 accumulators of S and O over 128 threads, and P; where it is
// `optimistic` (flash3.cu) the next P while S is still there.
ATTNPROF_HOST_DEVICE constexpr int flash3_held_registers(int head_dim, int bc, int element_bytes,
                                                         bool optimistic) {
  return bc / 2 + head_dim / 2 + (optimistic ? 2 : 1) * (bc * element_bytes / 8);
}
// The producer spills below 40; that costs less than spills of a consumer that needs the difference.
ATTNPROF_HOST_DEVICE constexpr int flash3_producer_registers(int consumers, int held) {
  return consumers != 2 ? 32 : held > 192 ? 24 : 40;
}
ATTNPROF_HOST_DEVICE constexpr int flash3_consumer_registers(int consumers, int blocks, int held) {
  const int left = flash3_registers_at_start(consumers, blocks) * (consumers + 1) -
                   flash3_producer_registers(consumers, held);
  return (left / consumers < 240 ? left / consumers : 240) / 8 * 8;
}
