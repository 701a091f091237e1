# Finds what the cuDNN plug-in is built from: headers of cuDNN, of its frontend (header only) and of the CUDA runtime. The
# libraries are opened at run time. CUDNN_HOME and CUDNN_FRONTEND_HOME, a system's usual places, and the wheels
# nvidia-cudnn-cu13 and nvidia-cudnn-frontend in .venv are searched.
file(GLOB Cudnn_SITES ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages)
find_path(Cudnn_INCLUDE_DIR cudnn.h HINTS $ENV{CUDNN_HOME} /usr/local/cuda ${Cudnn_SITES}/nvidia/cudnn
          PATH_SUFFIXES include)
find_path(Cudnn_FRONTEND_INCLUDE_DIR cudnn_frontend.h HINTS $ENV{CUDNN_FRONTEND_HOME} ${Cudnn_SITES}
          PATH_SUFFIXES include)
find_path(Cudnn_RUNTIME_INCLUDE_DIR cuda_runtime.h HINTS ${CudaHeaders_HINTS} PATH_SUFFIXES include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cudnn REQUIRED_VARS Cudnn_INCLUDE_DIR Cudnn_FRONTEND_INCLUDE_DIR
                                                      Cudnn_RUNTIME_INCLUDE_DIR)
set(Cudnn_INCLUDE_DIRS ${Cudnn_INCLUDE_DIR} ${Cudnn_FRONTEND_INCLUDE_DIR} ${Cudnn_RUNTIME_INCLUDE_DIR})
# Where the library of these headers lies, for programs that do not find it by its name.
get_filename_component(Cudnn_LIBRARY_HINT ${Cudnn_INCLUDE_DIR}/../lib/libcudnn.so.9 ABSOLUTE)
