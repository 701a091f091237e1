#include "base/shell_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "base/safe_text.hpp"

namespace attnprof {
namespace {

// What bash takes the word for.
std::string read_by_bash(const std::string& word) {
  const std::string command = "exec bash -c " + shell_word("LC_ALL=C.UTF-8; printf %s " + word);
  FILE* shell = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 256> buffer;
  while (const size_t size = fread(buffer.data(), 1, buffer.size(), shell)) text.append(buffer.data(), size);
  pclose(shell);
  return text;
}

TEST(ShellWord, IsReadBackAsItWas) {
  for (const std::string text :
       {"plain.csv", "a b", "it's", "$HOME", "`id`", "a\\b", "\"q\"", "*?[x]", "~", "#x", "a;b|c&d", "", "!x",
        "back\\slash'and quote", "5%", "name:lower:1%:0"}) {
    const std::string word = shell_word(text);
    EXPECT_EQ(read_by_bash(word), text) << word;
    EXPECT_EQ(word, printable(word));
  }
}

TEST(ShellWord, ControlCharactersAreShownAndReadBack) {
  for (const std::string text : {"a\nb", "\x1b[31mred", "it's\t\\n", "\u202eback", "\xff"}) {
    const std::string word = shell_word(text);
    EXPECT_EQ(read_by_bash(word), text) << word;
    EXPECT_EQ(word, printable(word)) << "safe to show";
  }
}

TEST(ShellWord, NeedsNoQuotesWhereNothingIsSpecial) {
  EXPECT_EQ(shell_words({"--sm", "3%", "a b"}), "--sm 3% 'a b'");
  EXPECT_EQ(shell_file("-x.csv"), "./-x.csv");
  EXPECT_EQ(shell_file("k/mine.json"), "k/mine.json");
}

}  // namespace
}  // namespace attnprof
