#include "serve/response_head.h"

#include <gtest/gtest.h>

#include <string>

namespace tlstrata::serve {
namespace {

std::expected<std::optional<ResponseHead>, BadResponse> parse(std::string_view text) {
  std::size_t scanned = 0;
  return parse_response(text, scanned);
}

TEST(ResponseHead, SaysHowLongTheBodyIs) {
  const auto head = parse("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nbody");
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->status, 200);
  EXPECT_EQ((*head)->body_bytes, 12U);
  EXPECT_TRUE((*head)->keep_alive);
  EXPECT_EQ((*head)->head_bytes, 39U);
  EXPECT_EQ((*parse("HTTP/1.1 304 Not Modified\r\n\r\n"))->body_bytes, 0U);
}

TEST(ResponseHead, WithoutALengthTheBodyEndsWithTheStream) {
  const auto head = parse("HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(head && *head);
  EXPECT_FALSE((*head)->body_bytes);
  EXPECT_FALSE((*head)->keep_alive);
}

TEST(ResponseHead, ClosingIsHeard) {
  EXPECT_FALSE((*parse("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))->keep_alive);
  EXPECT_FALSE((*parse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"))->keep_alive);
  EXPECT_TRUE((*parse("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"))->keep_alive);
}

TEST(ResponseHead, IsFoundWhateverItIsCutInto) {
  const std::string text = "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 1\r\n\r\n";
  std::size_t scanned = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto head = parse_response(std::string_view(text).substr(0, size), scanned);
    ASSERT_TRUE(head);
    EXPECT_FALSE(*head) << size;
  }
  EXPECT_TRUE(*parse_response(text, scanned));
}

TEST(ResponseHead, WhatIsNotRelayedIsRefused) {
  for (const char* text :
       {"no http\r\n\r\n", "HTTP/1.1 99 x\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\n folded\r\n\r\n"}) {
    EXPECT_FALSE(parse(text)) << text;
  }
  EXPECT_FALSE(parse(std::string(20'000, 'x')));
}

TEST(ForwardedFields, LeaveOutWhatIsOfOneConnection) {
  const std::string head =
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nkeep-alive: 5\r\nContent-Length: 9\r\nTransfer-Encoding: "
      "x\r\nB: "
      "c\r\n\r\n";
  EXPECT_EQ(forwarded_fields(head, false), "Host: a\r\nB: c\r\n");
  EXPECT_EQ(forwarded_fields(head, true), "Host: a\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nB: c\r\n");
}

}  // namespace
}  // namespace tlstrata::serve
