// README's tables are this program's output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/run.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

struct Block {
  std::string command;
  std::string text;
};

// What stands between <!-- begin: attnprof ... --> and <!-- end -->.
std::vector<Block> generated_blocks(const std::string& readme) {
  constexpr std::string_view begin = "<!-- begin: attnprof ", close = " -->\n", end = "<!-- end -->";
  std::vector<Block> blocks;
  for (size_t at = readme.find(begin); at != std::string::npos; at = readme.find(begin, at + 1)) {
    const size_t command = at + begin.size(), text = readme.find(close, command) + close.size();
    blocks.push_back({readme.substr(command, text - close.size() - command),
                      readme.substr(text, readme.find(end, text) - text)});
  }
  return blocks;
}

std::string output_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> args;
  for (std::string word; words >> word;) args.push_back(word);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_command_line(args), 0) << command;
  return testing::internal::GetCapturedStdout();
}

TEST(Readme, GeneratedTablesAreUpToDate) {
  const auto blocks = generated_blocks(text_of(ATTNPROF_SOURCE_DIR "/README.md"));
  EXPECT_FALSE(blocks.empty());
  for (const Block& block : blocks)
    EXPECT_EQ(block.text, "\n" + output_of(block.command) + "\n")
        << "put the output of `attnprof " << block.command << "` there";
}

}  // namespace
}  // namespace attnprof
