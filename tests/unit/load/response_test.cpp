#include "load/response.h"

#include <gtest/gtest.h>

#include <string>

namespace tlstrata::load {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct Result {
  bool fine = true;
  bool complete = false;  // before the end of the stream
  bool complete_at_end = false;
  int status = 0;
  std::uint64_t body = 0;
  friend bool operator==(const Result&, const Result&) = default;
};

Result read(std::string_view text, std::size_t piece) {
  ResponseReader reader;
  Result result;
  while (!text.empty() && result.fine) {
    const std::string_view part = text.substr(0, piece);
    text.remove_prefix(part.size());
    result.fine = reader.feed(bytes_of(part)).has_value();
  }
  result.complete = reader.complete();
  result.status = reader.status();
  result.body = reader.body_bytes();
  result.complete_at_end = reader.end_of_stream();
  return result;
}

// However the bytes are cut, the result is the same.
Result read(std::string_view text) {
  const Result whole = read(text, text.size() + 1);
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    EXPECT_EQ(read(text, piece), whole) << piece << " " << text;
  }
  return whole;
}

TEST(Response, OfALength) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), (Result{true, true, true, 200, 5}));
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"), (Result{true, false, false, 200, 4}));
  EXPECT_EQ(read("HTTP/1.1 404\r\ncontent-length:0\r\n\r\n"), (Result{true, true, true, 404, 0}));
  EXPECT_EQ(read("HTTP/1.1 204 No Content\r\n\r\n"), (Result{true, true, true, 204, 0}));
  EXPECT_EQ(read("HTTP/1.1 200 OK\nContent-Length: 1\n\nx"), (Result{true, true, true, 200, 1}));
}

TEST(Response, ToTheEndOfTheStream) {
  EXPECT_EQ(read("HTTP/1.0 200 ok\r\nContent-Type: x\r\n\r\nabc"), (Result{true, false, true, 200, 3}));
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n"), (Result{true, false, true, 200, 0}));
}

TEST(Response, Chunked) {
  EXPECT_EQ(
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n"),
      (Result{true, true, true, 200, 13}));
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n0\r\n\r\n"),
            (Result{true, true, true, 200, 0}));
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            (Result{true, false, false, 200, 3}));
}

TEST(Response, InterimOnesAreSkipped) {
  EXPECT_EQ(read("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
                 "Content-Length: 1\r\n\r\nx"),
            (Result{true, true, true, 200, 1}));
}

TEST(Response, TheLimitOfAHeadIsTheSameInPieces) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  while (head.size() + 32 < ResponseReader::largest_head) {
    head += "X: y\r\n";
  }
  EXPECT_TRUE(read(head + "\r\n", 1).fine);
  EXPECT_TRUE(read(head + "\r\n", head.size() + 2).fine);
  head += std::string(64, 'z');
  EXPECT_FALSE(read(head, 1).fine);
  EXPECT_FALSE(read(head, head.size()).fine);
}

TEST(Response, RefusesWhatIsNone) {
  for (const char* text :
       {"hello\r\n", "\r\n", "HTTP/2 200 OK\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 099 x\r\n",
        "HTTP/1.1  200\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n", "HTTP/1.1 200 OK\r\n: x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy"}) {
    EXPECT_FALSE(read(text).fine) << text;
  }
}

TEST(Response, BoundsLinesAndHeads) {
  ResponseReader reader;
  const std::string start = "HTTP/1.1 200 OK\r\n";
  ASSERT_TRUE(reader.feed(bytes_of(start)));
  EXPECT_FALSE(reader.feed(bytes_of("X: " + std::string(ResponseReader::largest_line, 'y'))));
  reader.reset();
  ASSERT_TRUE(reader.feed(bytes_of(start)));
  bool fine = true;
  std::size_t fed = 0;
  while (fine && fed < 4 * ResponseReader::largest_head) {
    const std::string field = "X: " + std::string(1000, 'y') + "\r\n";
    fine = reader.feed(bytes_of(field)).has_value();
    fed += field.size();
  }
  EXPECT_FALSE(fine);
  EXPECT_LT(fed, ResponseReader::largest_head + 2000);
}

}  // namespace
}  // namespace tlstrata::load
