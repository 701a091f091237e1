#include "cli/flags/names.hpp"

namespace attnprof {

CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type) {
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? "the name is empty" : std::string();
  };
  return app.add_option(names, name, help)->type_name(type)->check(not_empty);
}

void add_result_files(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("files", files, "Results of attnprof sweep or scripts/peers/peers.py")
      ->type_name("ROWS.csv")
      ->required();
}

}  // namespace attnprof
