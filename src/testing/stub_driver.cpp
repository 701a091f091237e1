// A libcuda that is there for linking only, as the CUDA toolkit's stub is: every function of the driver API
// that the program takes answers CUDA_ERROR_STUB_LIBRARY. For machines whose compiler comes from wheels,
// which bring no stub.
#include "measure/gpu/driver.hpp"

extern "C" CUresult answer_of_a_stub() { return CUDA_ERROR_STUB_LIBRARY; }

// Other names of that one function, by the assembler: cuda.h declares them with signatures of their own.
#define ATTNPROF_NAME(x) #x
#define ATTNPROF_STUB(name) ATTNPROF_STUB_NAMED(name)
#define ATTNPROF_STUB_NAMED(name) \
  asm(".globl " ATTNPROF_NAME(name) "\n.set " ATTNPROF_NAME(name) ", answer_of_a_stub\n");
ATTNPROF_DRIVER_FUNCTIONS(ATTNPROF_STUB)
ATTNPROF_OPTIONAL_DRIVER_FUNCTIONS(ATTNPROF_STUB)
