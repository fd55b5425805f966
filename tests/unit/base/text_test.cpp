#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace tlstrata {
namespace {

using namespace std::string_literals;

TEST(ForTerminal, KeepsPrintableText) {
  EXPECT_EQ(for_terminal("GET /index.html HTTP/1.1"), "GET /index.html HTTP/1.1");
  EXPECT_EQ(for_terminal("caf\u00e9 \u65e5\u672c \U0001F600"), "caf\u00e9 \u65e5\u672c \U0001F600");
  EXPECT_EQ(for_terminal(""), "");
}

TEST(ForTerminal, EscapesControlCharacters) {
  EXPECT_EQ(for_terminal("\x1b[31mred\a"), "\\x1b[31mred\\x07");
  EXPECT_EQ(for_terminal("a\0b"s), "a\\x00b");
  EXPECT_EQ(for_terminal("line\r\nnext\ttab\x7f"), "line\\x0d\\x0anext\\x09tab\\x7f");
  EXPECT_EQ(for_terminal("\u009b31m"), "\\x9b31m") << "CSI as one C1 character";
}

TEST(ForTerminal, EscapesWhatReordersOrHidesText) {
  EXPECT_EQ(for_terminal("user\u202etxt.exe"), "user\\u{202e}txt.exe");
  EXPECT_EQ(for_terminal("\u2066a\u2069"), "\\u{2066}a\\u{2069}");
  EXPECT_EQ(for_terminal("a\u200bb\ufeff"), "a\\u{200b}b\\u{feff}");
  EXPECT_EQ(for_terminal("\u061c\u200f"), "\\u{061c}\\u{200f}");
  EXPECT_EQ(for_terminal("\U000E0041"), "\\u{e0041}") << "tag characters are invisible";
}

TEST(ForTerminal, EscapesBytesThatAreNoUtf8OneByOne) {
  EXPECT_EQ(for_terminal("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(for_terminal("\xc3"), "\\xc3") << "cut short";
  EXPECT_EQ(for_terminal("\xc3(x"), "\\xc3(x") << "no continuation";
  EXPECT_EQ(for_terminal("\xc0\xaf"), "\\xc0\\xaf") << "overlong /";
  EXPECT_EQ(for_terminal("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong in three";
  EXPECT_EQ(for_terminal("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf") << "overlong in four";
  EXPECT_EQ(for_terminal("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(for_terminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(for_terminal("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
  EXPECT_EQ(for_terminal("\x80x"), "\\x80x");
}

TEST(ForTerminal, NoByteOfTheOutputIsAControlCharacterForAnyTwoBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string hostile{static_cast<char>(first), static_cast<char>(second)};
      for (const char c : for_terminal(hostile)) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE(byte >= 0x20 && byte != 0x7f) << first << ' ' << second;
      }
    }
  }
}

TEST(ForCsv, LeavesPlainFieldsAlone) {
  EXPECT_EQ(for_csv("GET"), "GET");
  EXPECT_EQ(for_csv(""), "");
  EXPECT_EQ(for_csv("10.0.0.1:443"), "10.0.0.1:443");
  EXPECT_EQ(for_csv("a=b"), "a=b") << "only a leading sign makes a formula";
}

TEST(ForCsv, QuotesSeparatorsQuotesAndLineBreaks) {
  EXPECT_EQ(for_csv("a,b"), "\"a,b\"");
  EXPECT_EQ(for_csv("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(for_csv("a\nb"), "\"a\nb\"");
  EXPECT_EQ(for_csv("a\rb"), "\"a\rb\"");
}

TEST(ForCsv, DisarmsFormulas) {
  EXPECT_EQ(for_csv("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(for_csv("+1"), "\"'+1\"");
  EXPECT_EQ(for_csv("-1"), "\"'-1\"");
  EXPECT_EQ(for_csv("@SUM(A1)"), "\"'@SUM(A1)\"");
  EXPECT_EQ(for_csv("\t=1"), "\"'\t=1\"");
  EXPECT_EQ(for_csv("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(for_csv("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
}

}  // namespace
}  // namespace tlstrata
