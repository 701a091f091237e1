#include "base/safe_text.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

TEST(SafeText, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb\n\r\t\x01\x7f"), "a\\x1b[31mb\\n\\r\\t\\x01\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \xc2\x80 \xc2\x9f"),
            "\\u009b31m \\u0080 \\u009f")
      << "C1";
}

TEST(SafeText, MarksThatTurnOrHideTextAreEscaped) {
  EXPECT_EQ(printable("\u202a\u202e\u2066\u2069"), "\\u202a\\u202e\\u2066\\u2069");
  EXPECT_EQ(printable("\u200f\u061c\u2028\ufeff"), "\\u200f\\u061c\\u2028\\ufeff");
}

TEST(SafeText, OtherTextStaysAsItIs) {
  const std::string text = "é µs 表 \U0001f600 \\x1b \u2065\u206a\u2027\u202f\xc2\xa0";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(SafeText, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf"),
            "\\xc0\\xaf\\xe0\\x80\\xaf\\xf0\\x80\\x80\\xaf")
      << "too long";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "above U+10FFFF";
}

TEST(SafeText, LinesKeepTheirEnds) { EXPECT_EQ(printable_lines("a\n\tb\x1b\r\n"), "a\n\tb\\x1b\\r\n"); }

TEST(SafeText, ATerminalGetsColoursAndNothingElse) {
  EXPECT_EQ(terminal_text("\x1b[1mbold\x1b[0m\n"), "\x1b[1mbold\x1b[0m\n");
  EXPECT_EQ(terminal_text("\x1b[2J\x1b]0;title\x07\x1b[31"), "\\x1b[2J\\x1b]0;title\\x07\\x1b[31");
}

TEST(SafeText, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(valid_utf8("a\xff\xc3z\xe2\x82"), "a\ufffd\ufffdz\ufffd\ufffd");
}

TEST(SafeText, ACutTakesWholeCharacters) {
  EXPECT_EQ(utf8_prefix("aé表", 6), "aé表");
  EXPECT_EQ(utf8_prefix("aé表", 5), "aé");
  EXPECT_EQ(utf8_prefix("aé表", 3), "aé");
  EXPECT_EQ(utf8_prefix("aé表", 2), "a");
  EXPECT_EQ(utf8_prefix("ab", 0), "");
  EXPECT_EQ(utf8_prefix("\xff\xff\xff", 2), "\xff\xff");
}

// Every single byte and every pair of bytes.
TEST(SafeText, NoByteOfAnyTextCommandsATerminal) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      for (const std::string& safe : {printable(text), valid_utf8(text)})
        for (std::string_view rest = safe; !rest.empty(); rest.remove_prefix(utf8_length(rest)))
          ASSERT_GT(utf8_length(rest), 0u) << first << " " << second;
      for (const unsigned char c : printable(text))
        ASSERT_TRUE(c >= 0x20 && c != 0x7F) << first << " " << second;
    }
}

}  // namespace
}  // namespace attnprof
