#include "cli/flags/names.hpp"

namespace attnprof {
namespace {

constexpr std::string_view standard_output = "/dev/stdout";

}  // namespace

CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type) {
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? "the name is empty" : std::string();
  };
  return app.add_option(names, name, help)->type_name(type)->check(not_empty);
}

CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& word, const std::string& words,
                        const std::string& help) {
  return app.add_option(names, word, help)->type_name(words)->default_str(word);
}

CLI::Option* add_output(CLI::App& app, std::string& file, const std::string& help) {
  const auto meant = [](const std::string& name) {
    return name == "-" ? std::string(standard_output) : name;
  };
  return add_name(app, "-o,--output", file, help + "; -: standard output", "FILE")->transform(meant);
}

bool is_standard_output(std::string_view file) { return file == standard_output; }

void add_result_files(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("files", files, "Results of attnprof sweep or scripts/peers/peers.py")
      ->type_name("ROWS.csv")
      ->required();
}

}  // namespace attnprof
