// Rows of results/, explained, as tests of it need them.
#pragma once

#include <string>
#include <vector>

#include "explain/explanation.hpp"
#include "test_paths.hpp"

namespace attnprof {

inline std::vector<ResultFile> committed_files(const std::vector<std::string>& names) {
  std::vector<std::string> paths, notices;
  for (const std::string& name : names) paths.push_back(std::string(ATTNPROF_SOURCE_DIR "/results/") + name);
  return read_result_files(paths, explain_columns(), notices);
}

// `selector` as --case has it; empty: all.
inline Explanations explained(const std::string& file, const std::string& selector = "",
                              const std::string& against = "") {
  ExplainRequest request{.cases = {}, .against = against, .tiles = {}};
  if (!selector.empty()) request.cases.push_back(Selector::parse("--case", selector));
  return explain(committed_files({file}), request);
}

}  // namespace attnprof
