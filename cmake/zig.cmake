# A toolchain file: Clang and libc++ as the wheel `ziglang` brings them, for a C library of 2018 and newer (glibc 2.28), with
# libc++ inside what it links. Headers of the distribution's libraries are linked into a folder of their own, since
# /usr/include also holds those of the C library that runs here.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
file(GLOB zig_wheels ${CMAKE_CURRENT_LIST_DIR}/../.venv/lib/python3*/site-packages/ziglang)
find_program(ATTNPROF_ZIG zig HINTS ${zig_wheels} REQUIRED)
set(CMAKE_CXX_COMPILER ${ATTNPROF_ZIG} c++ -target x86_64-linux-gnu.2.28)
set(zig_headers ${CMAKE_BINARY_DIR}/library-headers)
file(MAKE_DIRECTORY ${zig_headers})
foreach(header CLI fmt nlohmann csv.h xxhash.h)
  file(CREATE_LINK /usr/include/${header} ${zig_headers}/${header} SYMBOLIC)
endforeach()
set(CMAKE_CXX_FLAGS_INIT "-isystem ${zig_headers}")
