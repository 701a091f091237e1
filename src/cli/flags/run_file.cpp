#include "cli/flags/run_file.hpp"

#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"

namespace attnprof {

CLI::Option* RunFileFlags::add(CLI::App& app, const std::string& output_help, const std::string& append_help,
                               bool resume) {
  CLI::Option* option = add_output(app, output_, output_help);
  app.add_flag("--append", append_, append_help);
  if (resume) app.add_flag("--resume", resume_, "Complete the last run of FILE");
  app.add_flag("--overwrite", overwrite_, "Start FILE again");
  return option;
}

Existing RunFileFlags::existing() const {
  refuse_both(append_ && resume_, "--append", "--resume");
  refuse_both(append_ && overwrite_, "--append", "--overwrite");
  refuse_both(resume_ && overwrite_, "--resume", "--overwrite");
  const char* given = append_ ? "--append" : resume_ ? "--resume" : overwrite_ ? "--overwrite" : nullptr;
  if (given && output_.empty()) throw UsageError(fmt::format("{} needs a file; give -o FILE.csv", given));
  if (append_) return Existing::append;
  if (resume_) return Existing::resume;
  return overwrite_ ? Existing::overwrite : Existing::refuse;
}

}  // namespace attnprof
