#include "http/decoder.h"

#include <gtest/gtest.h>

#include "unit/http/http2_frames.h"

namespace tlstrata::http::test {
namespace {

TEST(Decoder, FollowsAlpn) {
  Runner<Decoder> http1;
  http1.reader.select("http/1.1");
  EXPECT_EQ(http1.client("GET / HTTP/1.1\r\n\r\n"), Lines{"request 0 GET @1"});
  Runner<Decoder> http2;
  http2.reader.select("h2");
  Encoder encoder;
  http2.client(std::string(Http2::preface()));
  EXPECT_EQ(http2.client(encoder.request(1)), Lines{"request 1 GET @2"});
}

TEST(Decoder, OtherProtocolsSayThemselvesThatTheyAreNoHttp) {
  Runner<Decoder> runner;
  runner.reader.select("imap");
  EXPECT_EQ(runner.server("* OK ready\r\n"), Lines{"not_http @1"});
}

TEST(Decoder, WithoutAlpnTheFirstBytesDecide) {
  Runner<Decoder> http1;
  EXPECT_EQ(http1.client("POST / HTTP/1.1\r\n\r\n"), Lines{"request 0 POST @1"});
  Runner<Decoder> http2;
  Encoder encoder;
  http2.client(std::string(Http2::preface()));
  EXPECT_EQ(http2.client(encoder.request(1)), Lines{"request 1 GET @2"});
}

TEST(Decoder, FewFirstBytesDecideNothing) {
  for (const std::size_t piece : {1U, 2U, 3U}) {
    Runner<Decoder> http1(piece);
    EXPECT_EQ(http1.client("POST / HTTP/1.1\r\n\r\n"), Lines{"request 0 POST @1"}) << piece;
    EXPECT_EQ(http1.server("HTTP/1.1 204 No Content\r\n\r\n"), (Lines{"response 0 204 @2", "response_end 0 @2"}));
    Runner<Decoder> put(piece);
    EXPECT_EQ(put.client("PRINT / HTTP/1.1\r\n\r\n"), Lines{"request 0 PRINT @1"}) << piece;
    Runner<Decoder> http2(piece);
    http2.client(std::string(Http2::preface()));
    http2.server(settings_frame());
    Encoder encoder;
    EXPECT_EQ(http2.client(encoder.request(1)), Lines{"request 1 GET @3"}) << piece;
  }
}

TEST(Decoder, AServerThatSpeaksFirst) {
  Runner<Decoder> http2;
  Encoder to_server;
  Encoder to_client;
  http2.server(settings_frame());  // allowed before the client's preface: RFC 9113 section 3.4
  http2.client(std::string(Http2::preface()));
  EXPECT_EQ(http2.client(to_server.request(1)), Lines{"request 1 GET @3"});
  EXPECT_EQ(http2.server(to_client.response(1, 200, true)), (Lines{"response 1 200 @4", "response_end 1 @4"}));
  Runner<Decoder> mail;
  EXPECT_EQ(mail.server("220 mail.example.test ESMTP\r\n"), Lines{});
  mail.reader.finish(true);
  EXPECT_EQ(mail.drain(), Lines{"not_http @1"});
}

TEST(Decoder, NothingAtAll) {
  Runner<Decoder> runner;
  runner.reader.hole(Role::client);
  runner.reader.finish(true);
  EXPECT_EQ(runner.drain(), Lines{});
}

}  // namespace
}  // namespace tlstrata::http::test
