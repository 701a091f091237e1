// Where the CUDA libraries that are opened at run time (CUPTI, cuBLAS) may lie.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// Candidate paths for `file` ("libcupti.so.13"), best first: what the library folders of toolkit_roots()
// (base/installation.hpp) hold, and the plain name, which the dynamic loader looks up. Throws
// EnvironmentError for one where others could have put it (base/trusted_path.hpp).
std::vector<std::string> cuda_library_paths(std::string_view file);

// Where an open library lies, as the loader tells; `otherwise` where it does not.
std::string library_path(void* library, std::string_view otherwise);

// The folders that exist, for "looked in ..." sentences.
std::vector<std::string> cuda_library_folders();

}  // namespace attnprof
