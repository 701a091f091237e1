// What holds of the help of every command, also of those that come later.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "cli/command_line.hpp"
#include "cli/command_tree.hpp"
#include "cli/help.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string shown_by(const Args& args) {
  return dynamic_cast<const CommandOf<ShowText>&>(*parse_command_line(args)).options.text;
}

std::string complaint_about(const Args& args) {
  try {
    parse_command_line(args);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// The root, every command that a person may give, and those beneath them.
class EveryCommand : public testing::Test {
 protected:
  void SetUp() override { add(tree_.root()); }
  std::vector<const CLI::App*> apps;

 private:
  void add(const CLI::App& app) {
    apps.push_back(&app);
    for (const CLI::App* below : visible_commands(app)) add(*below);
  }
  CommandTree tree_;
};

// Without the program's name.
Args words_of(const CLI::App& app) {
  if (!app.get_parent()) return {};
  Args words = words_of(*app.get_parent());
  words.push_back(app.get_name());
  return words;
}

TEST_F(EveryCommand, HasHelpWithin80ColumnsWithExamplesAndExitCodes) {
  ASSERT_GE(apps.size(), 17u);
  for (const CLI::App* app : apps) {
    const std::string help = help_text(*app);
    for (const std::string& line : lines_of(help))
      EXPECT_LE(line.size(), 80u) << full_name(*app) << ": " << line;
    EXPECT_THAT(help, AllOf(HasSubstr("\nExamples:\n  "), HasSubstr("\nExit codes: 0 "))) << full_name(*app);
    EXPECT_THAT(help, HasSubstr("  " + full_name(*app).substr(0, full_name(*app).find(' ', 9))))
        << "an example of it";
  }
}

// CLI11's own names of types and ways to write what there is by default.
TEST_F(EveryCommand, NamesValuesAndDefaultsInWords) {
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : app->get_options()) {
      if (!takes_value(*option)) continue;
      const std::string type = option->get_type_name(), preset = option->get_default_str();
      for (const char* raw : {"", "TEXT", "INT", "UINT", "FLOAT", "BOOLEAN", "ENUM"})
        EXPECT_NE(type, raw) << full_name(*app) << " " << option->get_name();
      for (const char* raw : {"[]", "{}", "\"\"", "\"", "["})
        EXPECT_FALSE(preset.starts_with(raw))
            << full_name(*app) << " " << option->get_name() << ": " << preset;
    }
}

TEST_F(EveryCommand, HasOneMetavarForOneThing) {
  std::map<std::string, std::pair<std::string, std::string>> seen;  // by option: metavar and command
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : named_options(*app)) {
      const std::string name = option->get_name(), type = takes_value(*option) ? option->get_type_name() : "";
      if (type.empty() || type.find('|') != std::string::npos) continue;  // the words of a choice
      if (name == "--output" && type == "DIR") continue;                  // a folder of several files
      const auto [first, added] = seen.try_emplace(name, type, full_name(*app));
      EXPECT_EQ(first->second.first, type)
          << name << " of " << full_name(*app) << " and " << first->second.second;
    }
}

// What is needed to get as far as the option's own value.
Args least_arguments(const CLI::App& app) {
  Args args = words_of(app);
  if (app.get_name() == "tune") args.insert(args.end(), {"--variant", "flash2"});
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required()) continue;
    if (option->nonpositional()) args.push_back(names_of(*option).front());
    args.emplace_back("x");
  }
  return args;
}

// A metavar such as table|csv|json is what the command takes, no more and no less.
TEST_F(EveryCommand, NamesTheWordsOfAChoice) {
  size_t choices = 0;
  for (const CLI::App* app : apps)
    for (const CLI::Option* option : named_options(*app)) {
      std::string words = option->get_type_name();
      if (!takes_value(*option) || words.find('|') == std::string::npos) continue;
      for (size_t at = 0; (at = words.find('|', at)) != std::string::npos;) words.replace(at, 1, ", ");
      Args args = least_arguments(*app);
      args.insert(args.end(), {option->get_name(), "no-such-word"});
      if (app->get_name() == "trace") args.insert(args.end(), {"--", "true"});
      const std::string sentence = complaint_about(args);
      if (sentence.find("csv, json") != std::string::npos && words.ends_with(", markdown"))
        words = "table, csv, json";
      EXPECT_THAT(sentence, HasSubstr("'no-such-word' is none of " + words)) << full_name(*app);
      ++choices;
    }
  EXPECT_GE(choices, 12u);
}

TEST_F(EveryCommand, IsExplainedByHelpToo) {
  for (const CLI::App* app : apps) {
    Args asked = words_of(*app), option = asked;
    asked.insert(asked.begin(), "help");
    option.emplace_back("--help");
    EXPECT_EQ(shown_by(asked), shown_by(option)) << full_name(*app);
    EXPECT_EQ(shown_by(option), help_text(*app));
  }
  EXPECT_THAT(complaint_about({"help", "swep"}), HasSubstr("did you mean sweep?"));
  EXPECT_THAT(complaint_about({"help", "baseline", "updat"}), HasSubstr("did you mean update?"));
  EXPECT_THAT(complaint_about({"help", "sweep", "more"}), Not(HasSubstr("accepted")));
}

TEST_F(EveryCommand, TakesQuiet) {
  for (const CLI::App* app : apps) EXPECT_TRUE(app->get_option_no_throw("--quiet")) << full_name(*app);
  EXPECT_FALSE(parse_command_line({"list"})->quiet);
  EXPECT_TRUE(parse_command_line({"list", "--quiet"})->quiet);
  EXPECT_TRUE(parse_command_line({"--quiet", "list"})->quiet);
  EXPECT_TRUE(parse_command_line({"--quiet", "trace", "-o", "x", "--", "ls", "-l"})->quiet);
  EXPECT_FALSE(parse_command_line({"trace", "-o", "x", "--", "ls", "--quiet"})->quiet) << "the program's own";
}

TEST(Help, VersionHasAShortNameToo) {
  EXPECT_EQ(shown_by({"-V"}), shown_by({"--version"}));
  EXPECT_THAT(shown_by({"-V"}), testing::StartsWith("attnprof " ATTNPROF_VERSION " ("));
}

TEST(Help, DefaultsStandBesideWhatTheyAreOf) {
  EXPECT_THAT(
      shown_by({"sweep", "--help"}),
      AllOf(HasSubstr("  --backend auto|gpu|sim  What measures; auto says why it chose (default: auto)\n"),
            HasSubstr("  -N, --seqlen LIST       Sequence lengths, q_len = kv_len (default:\n"
                      "                          512,1024,2048,4096)\n")));
}

}  // namespace
}  // namespace attnprof
