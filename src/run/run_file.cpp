#include "run/run_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/csv.hpp"
#include "base/replace_file.hpp"
#include "base/standard_streams.hpp"
#include "files/read_meta.hpp"
#include "files/resume.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

RunFile::RunFile(const std::string& path, Existing existing, Resumable resumable)
    : existed_(exists(path)), resumes_(existing == Existing::resume), file_(path, existing, resumable) {
  const std::string text = file_.text();
  if (text.empty()) return;
  if (existing == Existing::overwrite) {
    cut_ = 0;
    return;
  }
  if (existing == Existing::append) check_append(text, path);
  meta_ = meta_beside(path).value_or("");
  if (const std::string notice = existing == Existing::append ? notice_of_append(meta_, path) : "";
      !notice.empty())
    say(notice);
}

RunFile::~RunFile() {
  if (!existed_ && !begun_) file_.remove();
}

std::vector<Row> RunFile::resume(const std::vector<Case>& cases, Backend& backend, RunFacts& facts) {
  const std::string text = file_.text();
  check_columns(cases);
  if (!resumes_ || text.empty()) return {};
  Resumption resumption = check_resume(text, meta_, path(), cases, facts.options, backend);
  if (!resumption.run.empty()) facts.run = resumption.run;
  if (resumption.torn_line > 0)
    say(fmt::format("{}, line {}: the line is torn and is measured again", path(), resumption.torn_line));
  if (resumption.keep_bytes < text.size()) cut_ = resumption.keep_bytes;
  return std::move(resumption.done);
}

void RunFile::check_columns(const std::vector<Case>& cases) const {
  if (!cut_) attnprof::check_columns(file_.text(), path(), cases);
}

SweepObserver& RunFile::begin(const RunFacts& facts, const BackendInfo& info) {
  meta_ = meta_with_run(meta_, meta_path(path()), facts, info);
  if (!file_.is_stream()) replace_file(meta_path(path()), meta_);
  if (cut_) file_.truncate(*cut_);
  cut_.reset();
  begun_ = true;
  return writer_.emplace(file_);
}

void RunFile::rewrite(const std::vector<Row>& rows, size_t index) {
  if (file_.is_stream()) return writer_->end_case(rows[index]);
  const CsvText csv = parse_csv(file_.text(), path());
  if (rows.empty() || csv.records.size() <= rows.size()) return;
  std::string text;
  for (const Row& row : rows) text += writer_->line(row);
  file_.truncate(csv.records[csv.records.size() - rows.size()].offset);
  file_.write(text);
}

}  // namespace attnprof
