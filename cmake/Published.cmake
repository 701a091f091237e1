# published_figures.cpp: src/published/figures.csv as part of the program, made anew when the file changes.
set(ATTNPROF_PUBLISHED_FILE ${PROJECT_SOURCE_DIR}/src/published/figures.csv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ATTNPROF_PUBLISHED_FILE})
file(READ ${ATTNPROF_PUBLISHED_FILE} ATTNPROF_PUBLISHED_FIGURES)
set(ATTNPROF_PUBLISHED_SOURCE ${PROJECT_BINARY_DIR}/generated/published_figures.cpp)
configure_file(${CMAKE_CURRENT_LIST_DIR}/published_figures.cpp.in ${ATTNPROF_PUBLISHED_SOURCE} @ONLY)
