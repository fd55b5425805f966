#include "serve/request.h"

#include <gtest/gtest.h>

#include <string>

namespace tlstrata::serve {
namespace {

std::expected<std::optional<Request>, Refusal> parse(std::string_view bytes) {
  std::size_t scanned = 0;
  return parse_request(bytes, scanned);
}
int status_of(std::string_view bytes) {
  const auto parsed = parse(bytes);
  return parsed ? (parsed->has_value() ? 200 : 0) : parsed.error().status;
}

TEST(Request, GetOfASize) {
  const std::string bytes = "GET /4KiB?x=1 HTTP/1.1\r\nHost: a\r\n\r\nGET /next";
  const auto parsed = parse(bytes);
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->head_bytes, bytes.find("GET /next"));
  EXPECT_EQ((*parsed)->body_bytes, 4096U);
  EXPECT_TRUE((*parsed)->keep_alive);
  EXPECT_FALSE((*parsed)->head_only);
}

TEST(Request, WholeHeadsAreFoundWhereverTheyAreCut) {
  for (const std::string bytes : {"GET /1 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", "GET /1 HTTP/1.1\nHost: a\n\n"}) {
    std::size_t scanned = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto parsed = parse_request(std::string_view(bytes).substr(0, size), scanned);
      ASSERT_TRUE(parsed) << size;
      ASSERT_FALSE(*parsed) << size;
    }
    const auto parsed = parse_request(bytes, scanned);
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_EQ((*parsed)->head_bytes, bytes.size());
    EXPECT_EQ((*parsed)->body_bytes, 1U);
  }
}

TEST(Request, Persistence) {
  const auto keeps = [](std::string_view bytes) {
    const auto parsed = parse(bytes);
    EXPECT_TRUE(parsed && *parsed) << bytes;
    return parsed && *parsed && (*parsed)->keep_alive;
  };
  EXPECT_TRUE(keeps("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET /1 HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET /1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
  EXPECT_FALSE(keeps("GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_TRUE(keeps("GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
}

TEST(Request, TargetsThatAreSizes) {
  EXPECT_EQ(size_of_path("/0"), 0U);
  EXPECT_EQ(size_of_path("/40KiB"), 40960U);
  EXPECT_EQ(size_of_path("/1MB"), 1'000'000U);
  EXPECT_EQ(size_of_path("http://host:80/12"), 12U);
  EXPECT_EQ(size_of_path("/7?a/b"), 7U);
  for (const char* target : {"/", "", "/x", "/-1", "/1.5", "/4kib", "/1/2", "*", "12", "/99999999999999999999", "/2e9",
                             "http://host", "/4096GiB"}) {
    EXPECT_EQ(size_of_path(target), std::nullopt) << target;
  }
}

TEST(Request, RefusesWhatIsNoRequest) {
  EXPECT_EQ(status_of("\x16\x03\x01\x02\n\n"), 400) << "a TLS ClientHello";
  EXPECT_EQ(status_of("GET\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET  /1 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("G\xc3\xa4T /1 HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\n\r\n"), 400) << "no Host";
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of(std::string_view("GET /1 HTTP/1.1\r\nHost: a\0b\r\n\r\n", 31)), 400);
  EXPECT_EQ(status_of("GET /1 HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("POST /1 HTTP/1.1\r\nHost: a\r\n\r\n"), 405);
  EXPECT_EQ(status_of("BREW /1 HTTP/1.1\r\nHost: a\r\n\r\n"), 501);
}

TEST(Request, HoldsBackWhereTheQuerySaysSo) {
  EXPECT_EQ(delay_of("/4KiB"), 0);
  EXPECT_EQ(delay_of("/4KiB?delay=2ms"), 2 * nanos_per_millisecond);
  EXPECT_EQ(delay_of("/4KiB?a=b&delay=5us&c"), 5000);
  EXPECT_EQ(delay_of("/4KiB?a=b#delay=5us"), 0);
  EXPECT_EQ(delay_of("/4KiB?delay="), std::nullopt);
  EXPECT_EQ(delay_of("/4KiB?delay=2"), std::nullopt);
  EXPECT_EQ(delay_of("/4KiB?delay=61s"), std::nullopt);
}

TEST(Request, BoundsTheHead) {
  EXPECT_EQ(status_of(std::string(largest_head, 'x')), 414);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nX: " + std::string(largest_head, 'y')), 431);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nX: " + std::string(largest_head, 'y') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of("GET /1 HTTP/1.1\r\nHost: a\r\nX: " + std::string(largest_head - 100, 'y') + "\r\n\r\n"), 200);
}

}  // namespace
}  // namespace tlstrata::serve
