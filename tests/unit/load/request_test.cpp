#include "load/request.h"

#include <gtest/gtest.h>

namespace tlstrata::load {
namespace {

Request request_for(const std::string& url, const RequestOptions& options = {}) {
  return *make_request(*parse_url(url), options);
}

TEST(Request, NamesHostAndPort) {
  EXPECT_TRUE(request_for("https://a/4KiB").text.starts_with("GET /4KiB HTTP/1.1\r\nHost: a\r\n"));
  EXPECT_NE(request_for("https://a:8443/").text.find("Host: a:8443\r\n"), std::string::npos);
  EXPECT_NE(request_for("https://[::1]:1/").text.find("Host: [::1]:1\r\n"), std::string::npos);
  EXPECT_TRUE(request_for("https://a/").text.ends_with("\r\n\r\n"));
}

TEST(Request, OnlyTheLastAsksForTheEnd) {
  const Request request = request_for("https://a/");
  EXPECT_EQ(request.text.find("Connection"), std::string::npos);
  EXPECT_TRUE(request.closing_text.ends_with("\r\nConnection: close\r\n\r\n"));
}

TEST(Request, BodyAndHeaders) {
  const Request request = request_for("https://a/", {"", {"X-Trace:  7 ", "host: b", "User-Agent: me"}, "hello", true});
  EXPECT_EQ(request.method, "POST");
  EXPECT_TRUE(request.text.starts_with("POST / HTTP/1.1\r\nHost: b\r\nUser-Agent: me\r\n")) << request.text;
  EXPECT_NE(request.text.find("\r\nX-Trace: 7\r\n"), std::string::npos);
  EXPECT_NE(request.text.find("\r\nContent-Length: 5\r\n"), std::string::npos);
  EXPECT_TRUE(request.text.ends_with("\r\n\r\nhello"));
  const std::vector<std::pair<std::string, std::string>> start(request.fields.begin(), request.fields.begin() + 4);
  EXPECT_EQ(start, (std::vector<std::pair<std::string, std::string>>{
                       {":method", "POST"}, {":scheme", "https"}, {":authority", "b"}, {":path", "/"}}));
  for (const auto& [name, value] : request.fields) {
    EXPECT_EQ(name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string::npos) << name;
  }
  EXPECT_TRUE(request_for("https://a/", {"HEAD", {}, "", false}).has_no_response_body);
  EXPECT_EQ(request_for("https://a/", {"PUT", {}, "", true}).method, "PUT");
}

TEST(Request, WhatWouldBreakItIsRefused) {
  const Url url = *parse_url("https://a/");
  for (const char* header : {"", "x", ": x", "a b: c", "a: b\r\nc: d", "a: \x01", "Content-Length: 1",
                             "connection: close", "Transfer-Encoding: chunked"}) {
    const auto request = make_request(url, {"", {header}, "", false});
    ASSERT_FALSE(request) << header;
    EXPECT_EQ(request.error().exit_code, ExitCode::usage);
  }
  for (const char* method : {"GET /", "G\r\nX:", "CONNECT"}) {
    EXPECT_FALSE(make_request(url, {method, {}, "", false})) << method;
  }
}

}  // namespace
}  // namespace tlstrata::load
