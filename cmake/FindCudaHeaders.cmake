# Finds the headers of the CUDA driver API and of CUPTI's range profiler. Only headers: the libraries are opened at
# run time, so that one binary starts with and without them. CUDA_HOME, a toolkit's usual places, and the wheels that
# scripts/setup.sh installs are searched. cuBLAS is not needed to build: its wheel weighs 420 MB, and the program
# declares the few functions that it calls.
file(GLOB CudaHeaders_WHEELS ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13
                             ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/*)
set(CudaHeaders_HINTS $ENV{CUDA_HOME} /usr/local/cuda /opt/cuda ${CudaHeaders_WHEELS})
find_path(CudaHeaders_CUDA_INCLUDE_DIR cuda.h HINTS ${CudaHeaders_HINTS} PATH_SUFFIXES include)
find_path(CudaHeaders_CUPTI_INCLUDE_DIR cupti_range_profiler.h
          HINTS ${CudaHeaders_HINTS} PATH_SUFFIXES include extras/CUPTI/include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CudaHeaders REQUIRED_VARS CudaHeaders_CUDA_INCLUDE_DIR CudaHeaders_CUPTI_INCLUDE_DIR)
set(CudaHeaders_INCLUDE_DIRS ${CudaHeaders_CUDA_INCLUDE_DIR} ${CudaHeaders_CUPTI_INCLUDE_DIR})
list(REMOVE_DUPLICATES CudaHeaders_INCLUDE_DIRS)
