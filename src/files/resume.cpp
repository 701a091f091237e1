#include "files/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "files/env_id.hpp"
#include "files/meta.hpp"
#include "files/written_by.hpp"
#include "plan/identity.hpp"
#include "problem/problem_fields.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

constexpr std::string_view instead =
    "use --append for a further run, --overwrite to start again, or another -o";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("{} cannot be resumed: {}; {}", path, why, instead));
}

void check_header(const RowFile& file, const std::string& path) {
  if (!file.header.empty() && !columns_of_file(file.header))
    throw UsageError(
        fmt::format("{} has other columns than this attnprof writes; give another -o or --overwrite", path));
}

// A file without one whole line must at least begin as ours does, or it is somebody else's.
void check_torn_header(const RowFile& file, const std::string& csv_text, const std::string& path) {
  if (file.header.empty() && !csv_header(all_columns()).starts_with(csv_text))
    throw UsageError(fmt::format("{} is no attnprof CSV; give another -o or --overwrite", path));
}

std::string identity_text(const Identity& identity) {
  Row row;
  row.identity = identity;
  return fmt::format("{}", fmt::join(identity_texts(row), " "));
}

// The rows at the file's end that belong to its last run.
std::vector<Row> last_run(const RowFile& file) {
  std::vector<Row> rows;
  for (auto row = file.rows.rbegin(); row != file.rows.rend(); ++row) {
    if (row->provenance.run != file.rows.back().provenance.run) break;
    rows.push_back(*row);
  }
  std::ranges::reverse(rows);
  return rows;
}

std::string differing_facts(const RunRecord& record, const BackendInfo& info) {
  std::vector<std::string> differing;
  for (const std::string& name : info.comparable) {
    const auto now = std::ranges::find(info.environment, name, [](const auto& fact) { return fact.first; });
    const std::string value = now == info.environment.end() ? "" : now->second;
    const auto then = record.comparable.find(name);
    const std::string old = then == record.comparable.end() ? "absent" : then->second;
    if (old != value) differing.push_back(fmt::format("{} was {}, is {}", name, old, value));
  }
  return differing.empty() ? "its device, backend or schema was another"
                           : fmt::format("{}", fmt::join(differing, ", "));
}

void check_same_run(const std::vector<Row>& done, const std::string& meta_text, const std::string& path,
                    const std::string& plan, const BackendInfo& info) {
  const std::string& run = done.front().provenance.run;
  if (meta_text.empty())
    refuse(path, fmt::format("{} is missing, so nothing says what plan it was", meta_path(path)));
  const auto record = find_run(meta_text, run, meta_path(path));
  if (!record) refuse(path, fmt::format("{} has no run {}", meta_path(path), run));
  const std::string begun_by = program_of_run(meta_text, run, meta_path(path));
  if (begun_by != this_program())
    refuse(
        path,
        fmt::format("its run was begun by {}, and this is {}, whose rows may be of other kernels and another "
                    "protocol",
                    begun_by, this_program()));
  if (record->plan_id != plan)
    refuse(path, fmt::format("its plan is another, made by `{}`", record->command_line));
  const std::string now = env_id(info);
  if (record->env_id != now) refuse(path, "its environment is another: " + differing_facts(*record, info));
  for (const Row& row : done)
    if (row.provenance.env_id != now)
      refuse(path, fmt::format("it has a row of environment {}, this is {}", row.provenance.env_id, now));
}

void check_rows(const std::vector<Row>& done, const std::vector<Case>& cases, const std::string& path) {
  if (done.size() > cases.size())
    refuse(path, fmt::format("its run has {} rows, the plan {} cases", done.size(), cases.size()));
  for (size_t i = 0; i < done.size(); ++i)
    if (identity_text(done[i].identity) != identity_text(identity_of(cases[i])))
      refuse(path, fmt::format("row {} of its run is '{}' where the plan has '{}'", i + 1,
                               identity_text(done[i].identity), identity_text(identity_of(cases[i]))));
}

std::string kernel_hash_now(const Case& c, Backend& backend) {
  try {
    return backend.prepare(c).kernel_hash;
  } catch (const CaseSkipped&) {
  } catch (const CaseFailed&) {
  }
  return "";
}

void check_kernels(const std::vector<Row>& done, const std::vector<Case>& cases, const std::string& path,
                   Backend& backend) {
  std::map<std::string, size_t> first_row;
  for (size_t i = 0; i < done.size(); ++i)
    if (!done[i].build.kernel_hash.empty()) first_row.emplace(done[i].build.kernel_hash, i);
  for (const auto& [hash, row] : first_row) {
    const std::string now = kernel_hash_now(cases[row], backend);
    if (now != hash)
      refuse(path, fmt::format("the kernel of '{}' has changed (hash {} then, {} now)", describe(cases[row]),
                               hash, now.empty() ? "none" : now));
  }
}

}  // namespace

void check_append(const std::string& csv_text, const std::string& path) {
  const RowFile file = parse_rows(csv_text, path);
  check_header(file, path);
  if (file.torn)
    throw UsageError(
        fmt::format("{}, line {}: the line is torn, a run was killed there; complete it with "
                    "attnprof sweep --resume first, or remove the line",
                    path, file.torn->line));
}

std::string notice_of_append(const std::string& meta_text, const std::string& path) {
  if (meta_text.empty()) return "";
  const std::vector<std::string> others = other_programs(meta_text, meta_path(path));
  if (others.empty()) return "";
  return fmt::format("{} has runs by {}, and this one is by {}; {} says which is whose", path,
                     fmt::join(others, ", "), this_program(), meta_path(path));
}

void check_columns(const std::string& csv_text, const std::string& path, const std::vector<Case>& cases) {
  const std::vector<std::string> header = parse_header(csv_text, path);
  if (header.empty()) return;
  for (const ProblemField& field : problem_fields()) {
    if (field.first_schema || std::ranges::find(header, field.name) != header.end()) continue;
    for (const Case& c : cases)
      if (field.tells(c.problem))
        throw UsageError(fmt::format("{} has no column {}, which '{}' needs; give another -o or --overwrite",
                                     path, field.name, describe(c)));
  }
}

Resumption check_resume(const std::string& csv_text, const std::string& meta_text, const std::string& path,
                        const std::vector<Case>& cases, const MeasureOptions& options, Backend& backend) {
  const RowFile file = parse_rows(csv_text, path);
  check_header(file, path);
  check_torn_header(file, csv_text, path);
  Resumption result;
  result.keep_bytes = file.torn ? file.torn->offset : csv_text.size();
  result.torn_line = file.torn ? file.torn->line : 0;
  if (file.rows.empty()) return result;
  result.done = last_run(file);
  result.run = result.done.front().provenance.run;
  check_same_run(result.done, meta_text, path, plan_id(cases, options), backend.info());
  check_rows(result.done, cases, path);
  check_kernels(result.done, cases, path, backend);
  return result;
}

}  // namespace attnprof
