#include "http/http1.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/http/plaintext.h"

namespace tlstrata::http::test {
namespace {

using Http1Runner = Runner<Http1>;

TEST(Http1, ARequestAndItsResponse) {
  Http1Runner runner;
  EXPECT_EQ(runner.client("GET /index.html HTTP/1.1\r\nHost: example.test\r\n\r\n"), Lines{"request 0 GET @1"});
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
            (Lines{"response 0 200 @2", "response_end 0 @2"}));
}

TEST(Http1, ABodyOverPacketsEndsWithItsLastByte) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), Lines{"response 0 200 @2"});
  EXPECT_EQ(runner.server("worl"), Lines{});
  EXPECT_EQ(runner.server("d"), Lines{"response_end 0 @4"});
}

TEST(Http1, TheFirstByteCountsNotTheWholeLine) {
  Http1Runner runner;
  EXPECT_EQ(runner.client("GE"), Lines{});
  EXPECT_EQ(runner.client("T / HTTP/1.1\r\n\r\n"), Lines{"request 0 GET @1"});
  EXPECT_EQ(runner.server("H"), Lines{});
  EXPECT_EQ(runner.server("TTP/1.1 204 No Content\r\n\r\n"), (Lines{"response 0 204 @3", "response_end 0 @4"}));
}

TEST(Http1, KeepAlive) {
  Http1Runner runner;
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    const std::string packet = std::to_string(2 * i + 1);
    EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{"request " + number + " GET @" + packet});
    const std::string answer = std::to_string(2 * i + 2);
    EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
              (Lines{"response " + number + " 200 @" + answer, "response_end " + number + " @" + answer}));
  }
}

TEST(Http1, PipelinedRequestsInOneRecord) {
  Http1Runner runner;
  EXPECT_EQ(
      runner.client("GET /a HTTP/1.1\r\n\r\nHEAD /b HTTP/1.1\r\n\r\nPOST /c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
      (Lines{"request 0 GET @1", "request 1 HEAD @1", "request 2 POST @1"}));
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
                          "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n"
                          "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
            (Lines{"response 0 200 @2", "response_end 0 @2", "response 1 200 @2", "response_end 1 @2",
                   "response 2 201 @2", "response_end 2 @2"}))
      << "the response to HEAD has no body, whatever its length says";
}

TEST(Http1, AMessageInMidRecordHasItsOwnPacket) {
  Http1Runner runner;
  const std::string first = "GET /a HTTP/1.1\r\n\r\n";
  EXPECT_EQ(runner.feed_over_two_packets(Role::client, first + "GET /b HTTP/1.1\r\n\r\n", first.size()),
            (Lines{"request 0 GET @1", "request 1 GET @2"}));
}

TEST(Http1, ChunkedWithExtensionsAndTrailers) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n"
                          "5;name=value\r\nhello\r\n0A ; x\r\n0123456789\r\n0;last\r\n"),
            Lines{"response 0 200 @2"});
  EXPECT_EQ(runner.server("Trailer: value\r\nAnother: one\r\n"), Lines{});
  EXPECT_EQ(runner.server("\r\n"), Lines{"response_end 0 @4"});
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{"request 1 GET @5"});
  EXPECT_EQ(runner.server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            (Lines{"response 1 404 @6", "response_end 1 @6"}));
}

TEST(Http1, ChunkedGoesBeforeALength) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
                          "4\r\nbody\r\n0\r\n\r\n"),
            (Lines{"response 0 200 @2", "response_end 0 @2"}));
}

TEST(Http1, AChunkSizeThatIsNoneEndsTheReading) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            (Lines{"response 0 200 @2", "not_http @2"}));
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\n\r\n"), Lines{});
  Http1Runner huge;
  huge.client("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(huge.server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n").back(),
            "not_http @2");
}

TEST(Http1, InterimResponsesAreNoResponse) {
  Http1Runner runner;
  runner.client("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), Lines{});
  EXPECT_EQ(runner.client("body"), Lines{});
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            (Lines{"response 0 200 @4", "response_end 0 @4"}));
}

TEST(Http1, ResponsesThatNeverHaveABody) {
  for (const char* status : {"204 No Content", "304 Not Modified"}) {
    Http1Runner runner;
    runner.client("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n");
    EXPECT_EQ(runner.server(std::string("HTTP/1.1 ") + status + "\r\nContent-Length: 500\r\n\r\n").size(), 2U);
    EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
              (Lines{"response 1 200 @3", "response_end 1 @3"}));
  }
}

TEST(Http1, ABodyWithoutALengthEndsWithTheConnection) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nsome"), Lines{"response 0 200 @2"});
  EXPECT_EQ(runner.server("HTTP/1.0 looks like a head but is body\r\n\r\n"), Lines{});
  runner.reader.finish(true);
  EXPECT_EQ(runner.drain(), Lines{"response_end 0 @3"});
}

TEST(Http1, ABodyThatWasCutOffHasNoEnd) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.0\r\n\r\n");
  runner.server("HTTP/1.0 200 OK\r\n\r\nsome");
  runner.reader.finish(false);
  EXPECT_EQ(runner.drain(), Lines{});
  Http1Runner sized;
  sized.client("GET / HTTP/1.1\r\n\r\n");
  sized.server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsome");
  sized.reader.finish(true);
  EXPECT_EQ(sized.drain(), Lines{}) << "six bytes are missing";
}

TEST(Http1, TunnelsAreReadNoFurther) {
  Http1Runner connect;
  connect.client("CONNECT example.test:443 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(connect.server("HTTP/1.1 200 Connection established\r\n\r\n"),
            (Lines{"response 0 200 @2", "response_end 0 @2"}));
  EXPECT_EQ(connect.server("\x16\x03\x03 nonsense\r\n"), Lines{});
  Http1Runner upgrade;
  upgrade.client("GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
  EXPECT_EQ(upgrade.server("HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05hello"),
            (Lines{"response 0 101 @2", "response_end 0 @2"}));
}

TEST(Http1, EmptyLinesBeforeAMessageAreNoMessage) {
  Http1Runner runner;
  EXPECT_EQ(runner.client("\r\n\r\n"), Lines{});
  EXPECT_EQ(runner.client("\nGET / HTTP/1.1\n\n"), Lines{"request 0 GET @2"}) << "bare line feeds are read too";
}

TEST(Http1, WhatIsNoHttp) {
  for (const char* text : {"\x01\x02\x03\n", "EHLO mail.example.test\r\n", "GET /\r\n", "GET / HTTP/2.0\r\n",
                           "G(T / HTTP/1.1\r\n", " GET / HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n"}) {
    Http1Runner runner;
    EXPECT_EQ(runner.client(std::string_view(text)), Lines{"not_http @1"}) << text;
    EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{}) << "said once, then silent";
  }
  for (const char* text :
       {"220 mail.example.test ESMTP\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1  200 OK\r\n",
        "HTTP/1.1 099 Low\r\n", "HTTP/3.0 200 OK\r\n", "HTTP/1.1200 OK\r\n"}) {
    Http1Runner runner;
    EXPECT_EQ(runner.server(std::string_view(text)), Lines{"not_http @1"}) << text;
  }
}

TEST(Http1, StatusLinesWithoutAReason) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(runner.server("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
            (Lines{"response 0 200 @2", "response_end 0 @2"}));
}

TEST(Http1, LongHeadersAreReadOver) {
  Http1Runner runner;
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\nCookie: " + std::string(200'000, 'c')), Lines{"request 0 GET @1"});
  EXPECT_EQ(runner.client("\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\r\n"), Lines{"request 1 GET @2"});
}

TEST(Http1, StartLinesAreBounded) {
  for (const std::size_t piece : {0U, 1000U}) {
    Http1Runner fits(piece);
    EXPECT_EQ(fits.client("GET /" + std::string(16'000, 'a') + " HTTP/1.1\r\n\r\n"), Lines{"request 0 GET @1"});
    Http1Runner long_line(piece);
    EXPECT_EQ(long_line.client("GET /" + std::string(17'000, 'a') + " HTTP/1.1\r\n\r\n"), Lines{"not_http @1"})
        << "whether it comes in one piece or in many (" << piece << ")";
  }
}

TEST(Http1, LongHeaderLinesMeanTheSameHoweverTheyAreCut) {
  // What stands behind the first 16 KiB of a line is not read.
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length:" + std::string(16'400, ' ') + "3\r\n\r\n";
  for (const std::size_t piece : {0U, 1U, 100U, 16'000U}) {
    Http1Runner runner(piece);
    runner.client("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(runner.server(head + "abc"), Lines{"response 0 200 @2"}) << piece;
    EXPECT_EQ(runner.server("more"), Lines{}) << piece;
  }
}

TEST(Http1, AHoleEndsTheDirectionExceptInABodyWithoutLength) {
  Http1Runner runner;
  runner.client("GET / HTTP/1.1\r\n\r\n");
  runner.server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
  runner.reader.hole(Role::server);
  EXPECT_EQ(runner.server("HTTP/1.1 200 OK\r\n\r\n"), Lines{});
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{"request 1 GET @4"}) << "the other direction goes on";

  Http1Runner close;
  close.client("GET / HTTP/1.0\r\n\r\n");
  close.server("HTTP/1.0 200 OK\r\n\r\nabc");
  close.reader.hole(Role::server);
  close.server("def");
  close.reader.finish(true);
  EXPECT_EQ(close.drain(), Lines{"response_end 0 @3"});
}

TEST(Http1, EarlyRequestsAreMarked) {
  Http1Runner runner;
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n", true), Lines{"request 0 GET early @1"});
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{"request 1 GET @2"});
}

TEST(Http1, AnyChunkingGivesTheSameEvents) {
  const std::string requests =
      "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
      "HEAD /c HTTP/1.1\r\n\r\nGET /d HTTP/1.0\r\n\r\n";
  const std::string responses =
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n"
      "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: v\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
      "9\r\n\r\n"
      "HTTP/1.0 200 OK\r\n\r\nuntil the end";
  const auto run = [&](std::size_t piece) {
    Http1Runner runner(piece);
    runner.client(requests);
    runner.server(responses);
    runner.reader.finish(true);
    runner.drain();
    return runner.all;
  };
  const Lines whole = run(0);
  EXPECT_EQ(whole.size(), 12U);
  for (std::size_t piece = 1; piece < 40; ++piece) {
    EXPECT_EQ(run(piece), whole) << "pieces of " << piece;
  }
}

TEST(Http1Needless, ABodyOfKnownLength) {
  Runner<Http1> runner;
  EXPECT_EQ(runner.reader.needless(Role::client), 0U);
  runner.client("POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\nabc");
  EXPECT_EQ(runner.reader.needless(Role::client), 997U);
  EXPECT_EQ(runner.reader.needless(Role::server), 0U);
  EXPECT_EQ(runner.pass(Role::client, 900), Lines{});
  EXPECT_EQ(runner.reader.needless(Role::client), 97U);
  runner.client(std::string(97, 'x'));
  EXPECT_EQ(runner.reader.needless(Role::client), 0U);
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{"request 1 GET @4"});

  runner.server("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(runner.reader.needless(Role::server), 5000U);
  runner.pass(Role::server, 4999);
  EXPECT_EQ(runner.server("x"), Lines{"response_end 0 @7"});
}

TEST(Http1Needless, ChunksAndUntilClose) {
  Runner<Http1> runner;
  runner.client("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
  runner.server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10");
  EXPECT_EQ(runner.reader.needless(Role::server), 0U);
  runner.server("00\r\n");
  EXPECT_EQ(runner.reader.needless(Role::server), 0x1000U + 2);
  runner.pass(Role::server, 0x1000);
  EXPECT_EQ(runner.server("\r\n0\r\n\r\n"), Lines{"response_end 0 @5"});
  runner.server("HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(runner.reader.needless(Role::server), Http1::endless);
  runner.pass(Role::server, 4000);
  runner.reader.finish(true);
  EXPECT_EQ(runner.drain(), Lines{"response_end 1 @7"}) << "the passed record's packet";
}

}  // namespace
}  // namespace tlstrata::http::test
