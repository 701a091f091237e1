# libattnprof_trace.so, which `attnprof trace` has a program load. It must load beside whatever the program has loaded:
# it needs libc alone, and shows nothing but its entry points. What it shares with attnprof is compiled once for both
# (ATTNPROF_TRACED_SOURCES), as the library needs it: position independent, hidden, with fmt inside.
file(GLOB ATTNPROF_TRACE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/trace/inject/*.cpp)
list(FILTER ATTNPROF_TRACE_SOURCES EXCLUDE REGEX "_test\\.cpp$")
foreach(source base/demangled base/hash base/installation base/trusted_path measure/gpu/count_turns measure/gpu/counter_access
               measure/gpu/counter_error measure/gpu/cuda_paths measure/gpu/cupti measure/gpu/driver measure/gpu/gpu_facts
               measure/gpu/launch_counts measure/gpu/launch_sets measure/gpu/metric_plan measure/gpu/metrics
               measure/gpu/range_profiler problem/problem trace/functions trace/kernel_name trace/launch_record trace/pattern)
  list(APPEND ATTNPROF_TRACED_SOURCES ${PROJECT_SOURCE_DIR}/src/${source}.cpp)
endforeach()
add_library(attnprof_traced OBJECT ${ATTNPROF_TRACED_SOURCES})
add_library(attnprof_trace MODULE ${ATTNPROF_TRACE_SOURCES} $<TARGET_OBJECTS:attnprof_traced>)
foreach(target attnprof_traced attnprof_trace)
  attnprof_unity_by_folder(${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} SYSTEM PRIVATE ${CudaHeaders_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ATTNPROF_WITH_GPU=1)
  target_link_libraries(${target} PRIVATE attnprof_options fmt::fmt-header-only nlohmann_json::nlohmann_json
                                          XxHash::XxHash Threads::Threads ${CMAKE_DL_LIBS})
endforeach()
if(NOT ATTNPROF_SANITIZE)
  target_link_options(attnprof_trace PRIVATE -static-libstdc++ -static-libgcc -Wl,--no-undefined)
endif()
# Its own instances of the standard library's templates must not be mixed with those of another version.
target_link_options(attnprof_trace PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/trace_library.map)
set_target_properties(attnprof_trace PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/trace_library.map)
install(TARGETS attnprof_trace LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program)
