// The rows of result files as the commands that explain them need them: by column name, attnprof's own and
// those of scripts/peers/peers.py alike, sorted into what can be shown and what is left out.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "row/row.hpp"

namespace attnprof {

struct ResultFile {
  std::string path;
  std::vector<Row> rows;
  std::optional<std::string> meta;  // text of the .meta.json beside it
  std::vector<size_t> lines = {};   // where each row starts, the header being 1
};

// Rows that are not shown, by why: a disposition, "without a time", or "without FLOPs".
using LeftOut = std::map<std::string, size_t>;

// Reads `path` and what stands beside it; `columns` must be there besides the identity. A torn last line is
// left out and told in `notices`. Throws UsageError for what is missing, unreadable or malformed.
ResultFile read_result_file(const std::string& path, std::span<const std::string_view> columns,
                            std::vector<std::string>& notices);

// All of `paths`. Throws EnvironmentError when they hold no row at all.
std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths,
                                          std::span<const std::string_view> columns,
                                          std::vector<std::string>& notices);

// Whether a row has a right output and a rate; if not, it is counted in `left_out`.
bool can_be_shown(const Row& row, LeftOut& left_out);

// "3 skipped, 1 incorrect"; empty where nothing is left out.
std::string describe(const LeftOut& left_out);

}  // namespace attnprof
