#include "files/written_by.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/version.hpp"
#include "files/meta_document.hpp"

namespace attnprof {
namespace {

std::string program_named(std::string_view version, std::string_view commit) {
  return fmt::format("attnprof {} (commit {})", version, commit);
}

// The attnprof that began a run.
std::string program_of(const OrderedJson& json) {
  const OrderedJson named = json.value("attnprof", OrderedJson());
  const auto word = [&](const char* key) {
    const OrderedJson found = named.is_object() ? named.value(key, OrderedJson()) : OrderedJson();
    return found.is_string() ? found.get<std::string>() : "unknown";
  };
  return program_named(word("version"), word("commit"));
}

}  // namespace

std::string this_program() { return program_named(tool_version(), tool_commit()); }

std::string program_of_run(const std::string& text, const std::string& run, const std::string& file) {
  return program_of(parse_meta(text, file)["runs"][run]);
}

std::vector<std::string> other_programs(const std::string& text, const std::string& file) {
  std::vector<std::string> others;
  const OrderedJson meta = parse_meta(text, file);
  for (const OrderedJson& run : meta["runs"])
    if (const std::string program = program_of(run);
        program != this_program() && std::ranges::find(others, program) == others.end())
      others.push_back(program);
  return others;
}

}  // namespace attnprof
