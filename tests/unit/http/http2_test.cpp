#include "http/http2.h"

#include <gtest/gtest.h>

#include "unit/http/http2_frames.h"

namespace tlstrata::http::test {
namespace {

// A connection behind its preface and SETTINGS.
class Http2Runner : public Runner<Http2> {
 public:
  explicit Http2Runner(std::size_t piece = 0) : Runner(piece) {
    client(std::string(Http2::preface()));
    client(settings_frame());
    server(settings_frame());
    packet = 0;
  }
  Encoder to_server;
  Encoder to_client;
};

TEST(Http2, ARequestAndItsResponse) {
  Http2Runner runner;
  EXPECT_EQ(runner.client(runner.to_server.request(1)), Lines{"request 1 GET @1"});
  EXPECT_EQ(runner.server(runner.to_client.response(1)), Lines{"response 1 200 @2"});
  EXPECT_EQ(runner.server(data_frame(1, 100, false)), Lines{});
  EXPECT_EQ(runner.server(data_frame(1, 100, true)), Lines{"response_end 1 @4"});
}

TEST(Http2, ThePrefaceIsNoRequest) {
  Runner<Http2> runner;
  const std::string preface(Http2::preface());
  EXPECT_EQ(runner.client(preface.substr(0, 10)), Lines{});
  EXPECT_EQ(runner.client(preface.substr(10)), Lines{});
  EXPECT_EQ(runner.client(settings_frame()), Lines{});
  Encoder encoder;
  EXPECT_EQ(runner.client(encoder.request(1)), Lines{"request 1 GET @4"});
}

TEST(Http2, WithoutThePrefaceItIsNoHttp2) {
  Runner<Http2> runner;
  EXPECT_EQ(runner.client("GET / HTTP/1.1\r\n\r\n"), Lines{"not_http @1"});
  EXPECT_EQ(runner.client("more"), Lines{});
  Runner<Http2> late;
  EXPECT_EQ(late.client("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"), Lines{"not_http @1"});
}

TEST(Http2, InterleavedStreams) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  runner.client(runner.to_server.request(3, "HEAD"));
  runner.client(runner.to_server.request(5, "POST", false));
  EXPECT_EQ(runner.client(data_frame(5, 10, true)), Lines{});
  EXPECT_EQ(runner.server(runner.to_client.response(5, 201)), Lines{"response 5 201 @5"});
  EXPECT_EQ(runner.server(runner.to_client.response(1)), Lines{"response 1 200 @6"});
  EXPECT_EQ(runner.server(data_frame(5, 10, false)), Lines{});
  EXPECT_EQ(runner.server(runner.to_client.response(3, 404, true)), (Lines{"response 3 404 @8", "response_end 3 @8"}));
  EXPECT_EQ(runner.server(data_frame(1, 0, true)), Lines{"response_end 1 @9"});
  EXPECT_EQ(runner.server(data_frame(5, 10, true)), Lines{"response_end 5 @10"});
}

TEST(Http2, HeadersOverContinuations) {
  Http2Runner runner;
  const Bytes block = runner.to_server.block(
      {{":method", "GET"}, {":scheme", "https"}, {":path", "/"}, {"x-long", std::string(5000, 'x')}});
  const auto part = [&](std::size_t from, std::size_t to) {
    return Bytes(block.begin() + static_cast<std::ptrdiff_t>(from), block.begin() + static_cast<std::ptrdiff_t>(to));
  };
  EXPECT_EQ(runner.client(frame_bytes(frame::headers, frame::end_stream, 1, part(0, 3))), Lines{});
  EXPECT_EQ(runner.client(frame_bytes(frame::continuation, 0, 1, part(3, 1000))), Lines{});
  EXPECT_EQ(runner.client(frame_bytes(frame::continuation, 0, 1, {})), Lines{});
  EXPECT_EQ(runner.client(frame_bytes(frame::continuation, frame::end_headers, 1, part(1000, block.size()))),
            Lines{"request 1 GET @1"})
      << "the first byte of HEADERS counts";
}

TEST(Http2, AnInterruptedHeaderBlockIsAnError) {
  Http2Runner runner;
  const Bytes block = runner.to_server.block({{":method", "GET"}});
  runner.client(frame_bytes(frame::headers, 0, 1, block));
  EXPECT_EQ(runner.client(frame_bytes(frame::ping, 0, 0, Bytes(8, 0))), Lines{"not_http @2"});
  Http2Runner other_stream;
  other_stream.client(frame_bytes(frame::headers, 0, 1, block));
  EXPECT_EQ(other_stream.client(frame_bytes(frame::continuation, frame::end_headers, 3, {})), Lines{"not_http @2"});
  Http2Runner alone;
  EXPECT_EQ(alone.client(frame_bytes(frame::continuation, frame::end_headers, 1, block)), Lines{"not_http @1"});
}

TEST(Http2, PaddingAndPriority) {
  Http2Runner runner;
  const Bytes block = runner.to_server.block({{":method", "GET"}});
  const Bytes padded = Writer().u8(10).u32(0x80000000).u8(15).raw(block).fill(10).bytes();
  EXPECT_EQ(runner.client(frame_bytes(frame::headers, frame::end_headers | frame::padded | frame::priority, 1, padded)),
            Lines{"request 1 GET @1"});
  Http2Runner bad;
  const Bytes too_much = Writer().u8(200).raw(block).bytes();
  EXPECT_EQ(bad.client(frame_bytes(frame::headers, frame::end_headers | frame::padded, 1, too_much)),
            Lines{"not_http @1"});
  Http2Runner all_padding;
  EXPECT_EQ(all_padding.client(frame_bytes(frame::headers, frame::end_headers | frame::padded, 1, Bytes{0})), Lines{});
}

TEST(Http2, AResetStreamIsAbandoned) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  EXPECT_EQ(runner.client(frame_bytes(frame::rst_stream, 0, 1, Writer().u32(8).bytes())), Lines{"abandoned 1 @2"});
  runner.client(runner.to_server.request(3));
  EXPECT_EQ(runner.server(frame_bytes(frame::rst_stream, 0, 3, Writer().u32(7).bytes())), Lines{"abandoned 3 @4"});
  EXPECT_EQ(runner.client(runner.to_server.request(5)), Lines{"request 5 GET @5"});
}

TEST(Http2, TrailersEndAStream) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1, "POST", false));
  EXPECT_EQ(runner.client(data_frame(1, 5, false)), Lines{});
  EXPECT_EQ(
      runner.client(frame_bytes(frame::headers, Encoder::flags(true), 1, runner.to_server.block({{"x-sum", "1"}}))),
      Lines{})
      << "trailers are no second request";
  runner.server(runner.to_client.response(1));
  runner.server(data_frame(1, 5, false));
  EXPECT_EQ(runner.server(
                frame_bytes(frame::headers, Encoder::flags(true), 1, runner.to_client.block({{"grpc-status", "0"}}))),
            Lines{"response_end 1 @6"});
}

TEST(Http2, InterimResponsesAreNoResponse) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  EXPECT_EQ(runner.server(runner.to_client.response(1, 103)), Lines{});
  EXPECT_EQ(runner.server(runner.to_client.response(1, 100)), Lines{});
  EXPECT_EQ(runner.server(runner.to_client.response(1, 200)), Lines{"response 1 200 @4"});
}

TEST(Http2, OtherFramesAreReadOver) {
  Http2Runner runner;
  EXPECT_EQ(runner.client(frame_bytes(frame::window_update, 0, 0, Writer().u32(1000).bytes())), Lines{});
  EXPECT_EQ(runner.server(frame_bytes(frame::ping, 0, 0, Bytes(8, 1))), Lines{});
  EXPECT_EQ(runner.server(frame_bytes(0xC4, 0xFF, 77, Bytes(300, 1))), Lines{}) << "unknown types are ignored";
  runner.client(runner.to_server.request(1));
  EXPECT_EQ(runner.server(frame_bytes(frame::goaway, 0, 0, Writer().u32(1).u32(0).bytes())), Lines{});
  EXPECT_EQ(runner.server(runner.to_client.response(1, 200, true)), (Lines{"response 1 200 @6", "response_end 1 @6"}))
      << "streams below GOAWAY's go on";
}

TEST(Http2, PushPromisesKeepTheTablesInStep) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  const Bytes promise = Writer()
                            .u32(2)
                            .raw(runner.to_client.block({{":method", "GET"}, {":path", "/pushed"}, {"x-new", "entry"}}))
                            .bytes();
  EXPECT_EQ(runner.server(frame_bytes(frame::push_promise, frame::end_headers, 1, promise)), Lines{});
  EXPECT_EQ(runner.server(runner.to_client.response(1, 200, true, {{"x-new", "entry"}})),
            (Lines{"response 1 200 @3", "response_end 1 @3"}));
}

TEST(Http2, TheDynamicTableIsKept) {
  Http2Runner runner;
  const Encoder::Fields cookies{{"cookie", std::string(300, 'c')}};
  const std::size_t first = runner.to_server.request(1, "DELETE", true, cookies).size();
  Http2Runner again;
  EXPECT_EQ(again.client(again.to_server.request(1, "DELETE", true, cookies)), Lines{"request 1 DELETE @1"});
  const Bytes second = again.to_server.request(3, "DELETE", true, cookies);
  EXPECT_LT(second.size(), first) << "the second request refers to the first one's entries";
  EXPECT_EQ(again.client(second), Lines{"request 3 DELETE @2"});
}

TEST(Http2, TableSizesFollowSettings) {
  // The server allows a table of 64 KiB: the client's encoder uses it.
  Http2Runner runner;
  runner.server(settings_frame({{std::uint16_t{1}, 65'536U}}));
  Encoder large(65'536);
  large.change_table_size(65'536);
  const Encoder::Fields fields{{"x-large", std::string(20'000, 'l')}};
  EXPECT_EQ(runner.client(large.request(1, "PUT", true, fields)), Lines{"request 1 PUT @2"});
  EXPECT_EQ(runner.client(large.request(3, "PUT", true, fields)), Lines{"request 3 PUT @3"});
  EXPECT_EQ(runner.server(settings_frame({{std::uint16_t{1}, 0xFFFFFFFFU}})), Lines{});
  EXPECT_EQ(runner.server(frame_bytes(frame::settings, 0, 0, Bytes(7, 0))), Lines{"not_http @5"}) << "half a setting";
}

TEST(Http2, BrokenHpackEndsTheDirection) {
  Http2Runner runner;
  EXPECT_EQ(
      runner.client(frame_bytes(frame::headers, frame::end_headers, 1, Bytes{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})),
      Lines{"not_http @1"});
  EXPECT_EQ(runner.client(runner.to_server.request(3)), Lines{});
}

TEST(Http2, HeadersOnStreamZeroAreAnError) {
  Http2Runner runner;
  EXPECT_EQ(
      runner.client(frame_bytes(frame::headers, frame::end_headers, 0, runner.to_server.block({{":method", "GET"}}))),
      Lines{"not_http @1"});
}

TEST(Http2, HeaderBlocksAreBounded) {
  Http2Runner runner;
  EXPECT_EQ(runner.client(Writer().u24(0x400001).u8(frame::headers).u8(0).u32(1).bytes()), Lines{"not_http @1"});
  Http2Runner many;
  many.client(frame_bytes(frame::headers, 0, 1, many.to_server.block({{":method", "GET"}})));
  Lines lines;
  for (int i = 0; i < 40 && lines.empty(); ++i) {
    lines = many.client(frame_bytes(frame::continuation, 0, 1, Bytes(16'000, 0x40)));
  }
  ASSERT_EQ(lines.size(), 1U) << "a flood of CONTINUATION";
  EXPECT_TRUE(lines[0].starts_with("not_http"));
}

TEST(Http2, LargeDataFramesAreNotKept) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  runner.server(runner.to_client.response(1));
  EXPECT_EQ(runner.server(data_frame(1, 0xFFFFFF, true)), Lines{"response_end 1 @3"});
}

TEST(Http2, AHoleEndsTheDirectionAlone) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  runner.reader.hole(Role::server);
  EXPECT_EQ(runner.server(runner.to_client.response(1)), Lines{});
  EXPECT_EQ(runner.client(runner.to_server.request(3)), Lines{"request 3 GET @3"});
}

TEST(Http2, AnyChunkingGivesTheSameEvents) {
  const auto run = [](std::size_t piece) {
    Http2Runner runner(piece);
    Bytes up = runner.to_server.request(1);
    const auto add = [](Bytes& to, const Bytes& frame) { to.insert(to.end(), frame.begin(), frame.end()); };
    add(up, runner.to_server.request(3, "POST", false));
    add(up, data_frame(3, 300, true));
    add(up, frame_bytes(frame::ping, 0, 0, Bytes(8, 0)));
    add(up, runner.to_server.request(5));
    add(up, frame_bytes(frame::rst_stream, 0, 5, Bytes(4, 0)));
    runner.client(up);
    Bytes down = runner.to_client.response(3, 100);
    add(down, runner.to_client.response(1, 200));
    add(down, data_frame(1, 1000, false));
    add(down, runner.to_client.response(3, 500, true));
    add(down, data_frame(1, 0, true));
    runner.server(down);
    return runner.all;
  };
  const Lines whole = run(0);
  EXPECT_EQ(whole.size(), 8U);
  for (std::size_t piece = 1; piece < 30; ++piece) {
    EXPECT_EQ(run(piece), whole) << "pieces of " << piece;
  }
}

TEST(Http2, WhatIsLeftOfADataFrameIsNeedless) {
  Http2Runner runner;
  runner.client(runner.to_server.request(1));
  runner.server(runner.to_client.response(1));
  EXPECT_EQ(runner.reader.needless(Role::server), 0U);
  const Bytes data = data_frame(1, 1000, true);
  runner.server(Bytes(data.begin(), data.begin() + 109));
  EXPECT_EQ(runner.reader.needless(Role::server), 900U);
  runner.pass(Role::server, 899);
  EXPECT_EQ(runner.server(Bytes(1, 'd')), Lines{"response_end 1 @5"});
  const Bytes headers = runner.to_client.response(3);
  runner.server(Bytes(headers.begin(), headers.begin() + 10));
  EXPECT_EQ(runner.reader.needless(Role::server), 0U) << "a header block's bytes matter";
}

}  // namespace
}  // namespace tlstrata::http::test
