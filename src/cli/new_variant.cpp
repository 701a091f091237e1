// `attnprof new-variant NAME`: kernels/example/ under another name.
#include <fmt/format.h>

#include <filesystem>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/output_file.hpp"
#include "base/shell_word.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/flags/names.hpp"
#include "plugin/variant_description.hpp"
#include "plugin/variant_file.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// new-variant: an example to start from.
struct NewVariantCommand {
  std::string name;
  std::string folder = ".";
  std::string kernels_dir;  // empty: found
};

class NewVariantParser {
 public:
  explicit NewVariantParser(CLI::App& app);
  NewVariantCommand options(const Args&) const { return command_; }

 private:
  NewVariantCommand command_;
};

NewVariantParser::NewVariantParser(CLI::App& app) {
  app.footer(
      "Writes NAME.json and NAME.cu, a kernel that is right and slow, and says what to type next. NAME: a small\n"
      "letter, then small letters, digits and '_'.\n\n"
      "Examples:\n"
      "  attnprof new-variant mine -o kernels\n\n"
      "Exit codes: 0 all well, 2 wrong usage, 3 cannot be written.");
  app.add_option("NAME", command_.name, "Of the variant and its files")->type_name("NAME")->required();
  add_name(app, "-o,--output", command_.folder, "Folder of the two files; made if it is missing", "DIR")
      ->default_str(".");
  add_name(app, "--kernels", command_.kernels_dir, "Kernel sources", "DIR")
      ->default_str("beside the program");
}

constexpr std::string_view example = "example";

// It becomes part of a C name, so '-' is not among its letters.
void check_name(const std::string& name) {
  if (!is_variant_name(name) || name.find('-') != std::string::npos)
    throw UsageError(fmt::format(
        "new-variant '{}': give a name of a small letter, then small letters, digits and '_', {} at most",
        name, longest_variant_name));
  if (find_variant(name))
    throw UsageError(fmt::format("new-variant '{}': a built-in variant has this name; give another", name));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw EnvironmentError(fmt::format("new-variant -o {}: the folder cannot be made: {}; give another -o",
                                       folder.string(),
                                       error ? error.message() : "there is a file of that name"));
}

std::string renamed(std::string text, const std::string& name) {
  for (size_t at = 0; (at = text.find(example, at)) != std::string::npos; at += name.size())
    text.replace(at, example.size(), name);
  return text;
}

void write_file(const fs::path& from, const fs::path& to, const std::string& name) {
  OutputFile(to.string(), Existing::refuse).write(renamed(read_text_file(from.string()), name));
}

ExitCode new_variant_command(const NewVariantCommand& command) {
  const std::string& name = command.name;
  check_name(name);
  const fs::path source = fs::path(find_kernels_dir(command.kernels_dir)) / example;
  const fs::path folder = command.folder;
  const fs::path json = folder / (name + ".json"), kernel = folder / (name + ".cu");
  make_folder(folder);
  for (const fs::path& file : {json, kernel})
    if (std::error_code error; fs::exists(fs::symlink_status(file, error)))
      throw UsageError(fmt::format("new-variant: {} exists; give another name or another -o", file.string()));
  write_file(source / "example.cu", kernel, name);
  write_file(source / "example.json", json, name);
  const std::string file = shell_file(json.lexically_normal().string());
  print(fmt::format(
      "{} says what the variant takes and launches, {} is its kernel. Next, on a GPU:\n\n"
      "  attnprof sweep --variant-file {} -N 512,1k -d 64,128 -o {}.csv\n"
      "  attnprof roofline {}.csv --plot\n"
      "  attnprof sweep --variant-file {} -N 512,1k -d 64,128 --gate {}.csv   # after a change\n\n"
      "Without a GPU, attnprof compile --variant-file {} --arch sm_90a says whether it compiles.\n",
      json.lexically_normal().string(), kernel.lexically_normal().string(), file, name, name, file, name,
      file));
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry new_variant_entry;
const CommandEntry new_variant_entry{"new-variant", "Write a kernel of your own to start from",
                                     command_parser<NewVariantParser, new_variant_command>};

}  // namespace attnprof
