// Every function that the program takes of the driver and of CUPTI and that the other files lack: success,
// and nothing else. Weak, so that the others' stand in their place.
#include "measure/gpu/cupti.hpp"
#include "measure/gpu/driver.hpp"

extern "C" int answer_of_a_fake() { return 0; }

#define ATTNPROF_NAME(x) #x
#define ATTNPROF_REST(name) ATTNPROF_REST_NAMED(name)
#define ATTNPROF_REST_NAMED(name) \
  asm(".weak " ATTNPROF_NAME(name) "\n.set " ATTNPROF_NAME(name) ", answer_of_a_fake\n");
ATTNPROF_DRIVER_FUNCTIONS(ATTNPROF_REST)
ATTNPROF_OPTIONAL_DRIVER_FUNCTIONS(ATTNPROF_REST)
ATTNPROF_CUPTI_FUNCTIONS(ATTNPROF_REST)
