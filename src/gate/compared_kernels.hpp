// Which kernel sources the rows of both files were made of, as the files beside them say.
#pragma once

#include <string>
#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

// Of the runs of these rows, each once; empty where nothing says.
std::vector<KernelSources> kernels_of(const GateInput& input, const std::vector<uint32_t>& rows);

// "0123456789 and 2 uncommitted changes".
std::string hash_and_changes(const KernelSources& sources);

// "kernels: PATH (HASH) in the baseline, PATH (HASH) now", in one line; empty where neither is known.
std::string kernels_sentence(const GateResult& result, Against against);

}  // namespace attnprof
