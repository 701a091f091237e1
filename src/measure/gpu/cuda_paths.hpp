// Where the CUDA libraries that are opened at run time (CUPTI, cuBLAS) may lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// Candidate paths for `file` ("libcupti.so.13"), best first: CUDA_HOME and CUDA_PATH, the toolkit's usual
// places, Python wheels (VIRTUAL_ENV, and a .venv beside or above the program), and the plain name, which the
// dynamic loader looks up. Folders that do not exist are left out.
std::vector<std::string> cuda_library_paths(std::string_view file);

// The folders of that list, for "looked in ..." sentences.
std::vector<std::string> cuda_library_folders();

}  // namespace attnprof
