# attnprof_unity_by_folder(TARGET [APART regular-expression]): with ATTNPROF_UNITY, the target's sources of one folder are
# compiled together, some at a time, so that the headers they share are read once and what is made of templates is made once:
# in less than half the time. So names in unnamed namespaces are used once in a folder (scripts/ci/check_includes.py). Those that
# match APART are compiled by themselves, as every file is without the option.
function(attnprof_unity_by_folder target)
  if(NOT ATTNPROF_UNITY)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 unity "" "APART" "")
  set(files_together 16)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(SORT sources)
  foreach(source IN LISTS sources)
    get_source_file_property(group ${source} UNITY_GROUP)  # of a source that another target has too
    if(group OR NOT source MATCHES "\\.cpp$" OR (unity_APART AND source MATCHES "${unity_APART}"))
      continue()
    endif()
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND files_of_${folder} ${source})
    list(LENGTH files_of_${folder} count)
    math(EXPR part "(${count} - 1) / ${files_together}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
  endforeach()
endfunction()
