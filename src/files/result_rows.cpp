#include "files/result_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "files/meta.hpp"
#include "files/meta_document.hpp"
#include "files/read_meta.hpp"
#include "row/row_csv.hpp"

namespace attnprof {

ResultFile read_result_file(const std::string& path, std::span<const std::string_view> columns,
                            std::vector<std::string>& notices) {
  RowFile file = read_rows(path);
  if (file.header.empty())
    throw UsageError(fmt::format(
        "{} has no whole line; give a file that attnprof sweep -o or scripts/peers/peers.py wrote", path));
  for (const std::string_view column : columns)
    if (std::ranges::find(file.header, column) == file.header.end())
      throw UsageError(fmt::format(
          "{}: column {} is missing; give a file that attnprof sweep -o or scripts/peers/peers.py wrote",
          path, column));
  if (file.torn)
    notices.push_back(
        fmt::format("{}, line {}: the line is torn and left out; attnprof sweep --resume completes the file",
                    path, file.torn->line));
  std::optional<std::string> meta = meta_beside(path);
  if (meta) parse_meta(*meta, meta_path(path));
  return {path, std::move(file.rows), std::move(meta), std::move(file.lines)};
}

std::vector<ResultFile> read_result_files(const std::vector<std::string>& paths,
                                          std::span<const std::string_view> columns,
                                          std::vector<std::string>& notices) {
  std::vector<ResultFile> files;
  size_t rows = 0;
  for (const std::string& path : paths) {
    files.push_back(read_result_file(path, columns, notices));
    rows += files.back().rows.size();
  }
  if (rows == 0)
    throw EnvironmentError(fmt::format("{} no rows; give a file with results",
                                       paths.size() == 1 ? paths.front() + " has" : "the files have"));
  return files;
}

bool can_be_shown(const Row& row, LeftOut& left_out) {
  std::string why;
  if (row.status.disposition != "ok")
    why = row.status.disposition.empty() ? "without a disposition" : row.status.disposition;
  else if (row.verify.verified == "no")
    why = "incorrect";
  else if (row.roofline.useful_tflops_per_s.value_or(0) <= 0)
    why = row.latency.median_ns && !row.model.useful_flops ? "without FLOPs" : "without a time";
  if (why.empty()) return true;
  ++left_out[why];
  return false;
}

std::string describe(const LeftOut& left_out) {
  std::vector<std::string> parts;
  for (const auto& [why, count] : left_out) parts.push_back(fmt::format("{} {}", count, why));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace attnprof
