// What ceilings.cu and the host must agree on; plain C++ for both.
#pragma once

constexpr int ceiling_threads = 512;
constexpr int ceiling_blocks_per_sm = 4;  // every thread an SM has

// 16-byte words that a thread has on their way at a time.
constexpr int ceiling_in_flight = 4;
// What a block moves at a time; buffers are multiples of it.
constexpr int ceiling_chunk_bytes = ceiling_threads * ceiling_in_flight * 16;

// Shared memory a block reads, and words of 16 bytes a thread reads of it in a round.
constexpr int ceiling_smem_bytes = 32768;
constexpr int ceiling_smem_reads = 16;

// Independent chains of a thread, and operations of each in a round.
constexpr int ceiling_chains = 8;
constexpr int ceiling_steps = 64;
