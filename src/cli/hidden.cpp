// The commands that attnprof and its scripts start, in processes of their own.
#include "cli/command.hpp"
#include "cli/flags/names.hpp"
#include "files/meta.hpp"
#include "files/meta_document.hpp"
#include "files/read_meta.hpp"
#include "plugin/plugin_host.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

struct NoOptions {};

struct NoOptionsParser {
  explicit NoOptionsParser(CLI::App&) {}
  NoOptions options(const Args&) const { return {}; }
};

// Asked about a plug-in, which may crash.
int plugin_host(const NoOptions&) { return serve_plugin_host(); }

// Started by the gpu backend: measures the cases it is sent.
int worker(const NoOptions&) { return serve_gpu_worker_process(); }

struct RowFiles {
  std::vector<std::string> files;
};

class RowFilesParser {
 public:
  explicit RowFilesParser(CLI::App& app) { add_result_files(app, files_.files); }
  RowFiles options(const Args&) const { return files_; }

 private:
  RowFiles files_;
};

// Asked by scripts that read rows themselves, so that they take what the program takes: says nothing, or what
// no row can be.
ExitCode check_rows(const RowFiles& rows) {
  for (const std::string& file : rows.files) {
    read_rows(file);
    if (const auto meta = meta_beside(file)) parse_meta(*meta, meta_path(file));
  }
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry plugin_host_entry, worker_entry, check_rows_entry;
const CommandEntry plugin_host_entry{.name = "plugin-host",
                                     .help = "Started by attnprof itself",
                                     .parser = command_parser<NoOptionsParser, plugin_host>,
                                     .hidden = true};
const CommandEntry check_rows_entry{.name = "check-rows",
                                    .help = "Started by attnprof's scripts",
                                    .parser = command_parser<RowFilesParser, check_rows>,
                                    .hidden = true};
const CommandEntry worker_entry{.name = "worker",
                                .help = "Started by attnprof itself",
                                .parser = command_parser<NoOptionsParser, worker>,
                                .hidden = true};

}  // namespace attnprof
