// Marks functions that host and device both compile; nothing where there is no device compiler.
#pragma once

#ifdef __CUDACC__
#define ATTNPROF_HOST_DEVICE __host__ __device__
#else
#define ATTNPROF_HOST_DEVICE
#endif
