// The commands that attnprof starts itself, in processes of their own.
#include "cli/command.hpp"
#include "plugin/plugin_host.hpp"

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

}  // namespace

extern const CommandEntry plugin_host_entry, worker_entry;
const CommandEntry plugin_host_entry{.name = "plugin-host",
                                     .help = "Started by attnprof itself",
                                     .parser = command_parser<NoOptionsParser, plugin_host>,
                                     .hidden = true};
const CommandEntry worker_entry{.name = "worker",
                                .help = "Started by attnprof itself",
                                .parser = command_parser<NoOptionsParser, worker>,
                                .hidden = true};

}  // namespace attnprof
