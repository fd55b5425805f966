#include "probe/answer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <variant>

namespace tlstrata::probe {
namespace {

constexpr std::array<std::uint8_t, 32> retry_random{0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C,
                                                    0x02, 0x1E, 0x65, 0xB8, 0x91, 0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB,
                                                    0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C};

Bytes with_length(const Bytes& body, int width) {
  Bytes out;
  for (int i = width - 1; i >= 0; --i) {
    out.push_back(static_cast<std::uint8_t>(body.size() >> (8 * i)));
  }
  std::ranges::copy(body, std::back_inserter(out));
  return out;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) {
    std::ranges::copy(part, std::back_inserter(all));
  }
  return all;
}

Bytes record(std::uint8_t type, const Bytes& body) {
  return joined({{type, 3, 3}, with_length(body, 2)});
}

Bytes hello_message(const Bytes& random, const Bytes& extensions) {
  const Bytes body = joined({{3, 3}, random, {0}, {0x13, 0x01, 0}, with_length(extensions, 2)});
  return joined({{2}, with_length(body, 3)});
}

const Bytes some_random(32, 7);
const Bytes tls13_and_x25519 = joined({{0, 43, 0, 2, 3, 4}, {0, 51, 0, 5, 0, 0x1D, 0, 1, 9}});

Result<std::optional<Answer>> answer_to(const Bytes& bytes) {
  AnswerReader reader;
  reader.feed(bytes);
  return reader.next();
}

TEST(AnswerTest, ServerHelloHasVersionSuiteAndGroup) {
  const auto answer = answer_to(record(22, hello_message(some_random, tls13_and_x25519)));
  ASSERT_TRUE(answer && *answer);
  const auto& hello = std::get<ServerHello>(**answer);
  EXPECT_EQ(hello.version, 0x0304);
  EXPECT_EQ(hello.cipher_suite, 0x1301);
  EXPECT_EQ(hello.group, 0x001D);
  EXPECT_FALSE(hello.is_retry);
}

TEST(AnswerTest, RetryHasGroupAndCookieAndAHelloMayFollow) {
  const Bytes retry = hello_message({retry_random.begin(), retry_random.end()},
                                    joined({{0, 43, 0, 2, 3, 4}, {0, 51, 0, 2, 0x11, 0xEC}, {0, 44, 0, 3, 0, 1, 42}}));
  AnswerReader reader;
  reader.feed(joined({record(22, retry), record(20, {1}), record(22, hello_message(some_random, tls13_and_x25519))}));
  const auto first = reader.next();
  ASSERT_TRUE(first && *first);
  const auto& asked = std::get<ServerHello>(**first);
  EXPECT_TRUE(asked.is_retry);
  EXPECT_EQ(asked.group, 0x11EC);
  EXPECT_EQ(asked.cookie, Bytes{42});
  const auto second = reader.next();
  ASSERT_TRUE(second && *second);
  EXPECT_FALSE(std::get<ServerHello>(**second).is_retry);
}

TEST(AnswerTest, FatalAlertsAnswerAndWarningsDoNot) {
  const auto fatal = answer_to(record(21, {2, 40}));
  ASSERT_TRUE(fatal && *fatal);
  EXPECT_EQ(std::get<Alert>(**fatal).description, 40);
  const auto later =
      answer_to(joined({record(21, {1, 112}), record(22, hello_message(some_random, tls13_and_x25519))}));
  ASSERT_TRUE(later && *later);
  EXPECT_TRUE(std::holds_alternative<ServerHello>(**later));
  const auto closing = answer_to(record(21, {1, 0}));
  ASSERT_TRUE(closing && *closing);
  EXPECT_EQ(std::get<Alert>(**closing).description, 0);
}

TEST(AnswerTest, EveryPrefixNeedsMore) {
  const Bytes whole = record(22, hello_message(some_random, tls13_and_x25519));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto answer = answer_to(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_TRUE(answer) << size;
    EXPECT_FALSE(*answer) << size;
  }
}

TEST(AnswerTest, WhatIsNoTlsAndWhatBreaksItsRulesAreToldApart) {
  const std::string_view text = "HTTP/1.1 400 Bad Request\r\n";
  const auto http = answer_to(Bytes(text.begin(), text.end()));
  ASSERT_FALSE(http);
  EXPECT_EQ(http.error().code, ErrorCode::unsupported);
  const auto share_too_long = answer_to(record(22, hello_message(some_random, {0, 51, 0, 5, 0, 0x1D, 0, 9, 9})));
  ASSERT_FALSE(share_too_long);
  EXPECT_EQ(share_too_long.error().code, ErrorCode::truncated);
  const auto endless = answer_to(record(22, {2, 0xFF, 0xFF, 0xFF}));
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::limit);
  AnswerReader reader;
  reader.feed(joined({record(21, {1, 112}), {99}}));
  const auto later = reader.next();
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::malformed);
  EXPECT_FALSE(reader.next()) << "an error stays";
}

}  // namespace
}  // namespace tlstrata::probe
