# ATTNPROF_FMT: which of fmt's targets the program takes. With ATTNPROF_PORTABLE everything but the C library is inside it and
# its libraries: fmt as headers (distributions have no archive of it), and GCC's C++ library from its archives.
set(ATTNPROF_FMT fmt::fmt)
if(ATTNPROF_PORTABLE)
  set(ATTNPROF_FMT fmt::fmt-header-only)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(attnprof_options INTERFACE -static-libstdc++ -static-libgcc)
  endif()
endif()
