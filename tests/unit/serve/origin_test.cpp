#include "serve/origin.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "io/clock.h"
#include "io/unique_fd.h"

namespace tlstrata::serve {
namespace {

constexpr int patience_ms = 20'000;  // a machine under load answers late; a server that hangs never

class Client {
 public:
  explicit Client(const io::Address& server) : socket_(::socket(server.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    connected_ = ::connect(socket_.get(), server.get(), server.size()) == 0;
  }

  [[nodiscard]] bool connected() const { return connected_; }
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // The next bytes; empty: the server has closed. Fails the test where nothing comes.
  std::string receive() const {
    pollfd ready{socket_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, patience_ms), 1) << "the server is silent";
    std::array<char, 65536> buffer{};
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
  }
  std::string receive_all() const {
    std::string all;
    for (std::string part = receive(); !part.empty(); part = receive()) {
      all += part;
    }
    return all;
  }
  void finish() const { (void)::shutdown(socket_.get(), SHUT_WR); }
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  io::UniqueFd socket_;
  bool connected_ = false;
};

Origin start(OriginOptions options = {}) {
  options.listen = *io::Address::from_text("127.0.0.1:0");
  auto origin = Origin::start(options);
  EXPECT_TRUE(origin);
  return std::move(*origin);
}

std::string body_of(const std::string& response) {
  const auto end = response.find("\r\n\r\n");
  return end == std::string::npos ? std::string() : response.substr(end + 4);
}

TEST(Origin, ServesBodiesOfTheSizeAskedFor) {
  const Origin origin = start();
  for (const std::size_t size : {0UL, 1UL, 4096UL, 262'144UL, 262'145UL, 5'000'000UL}) {
    const Client client(origin.address());
    client.send("GET /" + std::to_string(size) + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string response = client.receive_all();
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_NE(response.find("Content-Length: " + std::to_string(size) + "\r\n"), std::string::npos);
    EXPECT_EQ(body_of(response).size(), size);
  }
}

TEST(Origin, KeepsConnectionsAndAnswersPipelinedRequestsInOrder) {
  const Origin origin = start();
  const Client client(origin.address());
  std::string requests;
  std::size_t expected_body = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    requests +=
        "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n" + (i == 499 ? "Connection: close\r\n" : "") + "\r\n";
    expected_body += i;
  }
  client.send(requests);
  const std::string all = client.receive_all();
  std::size_t at = 0;
  std::size_t bodies = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const std::string length = "Content-Length: " + std::to_string(i) + "\r\n";
    at = all.find(length, at);
    ASSERT_NE(at, std::string::npos) << i;
    bodies += i;
  }
  EXPECT_EQ(bodies, expected_body);
}

TEST(Origin, HeadHasNoBodyAndTheConnectionServesOn) {
  const Origin origin = start();
  const Client client(origin.address());
  client.send("HEAD /100 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string all = client.receive_all();
  EXPECT_NE(all.find("Content-Length: 100\r\n"), std::string::npos);
  EXPECT_TRUE(all.ends_with("\r\n\r\n012")) << all;
}

TEST(Origin, SpeaksHttp10) {
  const Origin origin = start();
  const Client client(origin.address());
  client.send("GET /3 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /4 HTTP/1.0\r\n\r\n");
  const std::string all = client.receive_all();
  EXPECT_NE(all.find("Connection: keep-alive\r\n\r\n012HTTP/1.1 200 OK"), std::string::npos) << all;
  EXPECT_TRUE(all.ends_with("Connection: close\r\n\r\n0123")) << all;
}

// The answer must arrive although more was sent than the server reads: a close with unread bytes would be a reset.
TEST(Origin, RefusalsArriveWhateverElseWasSent) {
  const Origin origin = start();
  const struct {
    std::string request;
    std::string status;
  } cases[] = {
      {"GET /1 HTTP/1.1\r\nHost: a\r\nX: " + std::string(600'000, 'y'), "431"},
      {std::string(200'000, 'z'), "414"},
      {"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'b'), "405"},
      {"\x16\x03\x01\x02\n\n", "400"},
      {"GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "404"},
  };
  for (const auto& [request, status] : cases) {
    const Client client(origin.address());
    client.send(request);
    client.finish();
    EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 " + status)) << status;
  }
}

TEST(Origin, ClosesClientsThatKeepItWaiting) {
  OriginOptions options;
  options.limits.head_timeout_ns = 100 * nanos_per_millisecond;
  options.limits.idle_timeout_ns = 100 * nanos_per_millisecond;
  options.limits.write_timeout_ns = 100 * nanos_per_millisecond;
  const Origin origin = start(options);
  const Client silent(origin.address());
  const Client slow(origin.address());
  slow.send("GET /1 HT");
  const Client idle(origin.address());
  idle.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(idle.receive().starts_with("HTTP/1.1 200"));
  const Client never_reads(origin.address());
  never_reads.send("GET /1GB HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(silent.receive(), "");
  EXPECT_EQ(slow.receive(), "");
  EXPECT_EQ(idle.receive(), "");
  // Far less than was asked for: the server gave up.
  EXPECT_LT(never_reads.receive_all().size(), 1'000'000'000U);
}

TEST(Origin, GoesOnWhenDescriptorsRunOut) {
  const Origin origin = start();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<Client> clients;
  {
    const Client first(origin.address());
    first.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_FALSE(first.receive().empty());
    rlimit tight = before;
    tight.rlim_cur = static_cast<rlim_t>(first.fd()) + 30;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    while (clients.size() < 100) {
      clients.emplace_back(origin.address());
      if (!clients.back().connected()) {
        clients.pop_back();
        break;
      }
    }
    EXPECT_LT(clients.size(), 30U);
  }
  clients.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const Client last(origin.address());
  last.send("GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(last.receive_all().ends_with("01"));
}

TEST(Origin, SeveralThreadsShareOneListener) {
  OriginOptions options;
  options.threads = 3;
  Origin origin = start(options);
  for (int i = 0; i < 60; ++i) {
    const Client client(origin.address());
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(client.receive_all().ends_with("\r\n\r\n0"));
  }
  origin.stop();
  EXPECT_EQ(origin.answered(), 60U);
}

TEST(Origin, StopsWithConnectionsOpen) {
  Origin origin = start();
  const Client client(origin.address());
  client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(client.receive().empty());
  origin.stop();
  EXPECT_EQ(client.receive(), "");
}

TEST(Origin, SaysThatAPortIsTaken) {
  const Origin origin = start();
  OriginOptions options;
  options.listen = origin.address();
  const auto second = Origin::start(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().where, origin.address().text());
  EXPECT_EQ(second.error().exit_code, ExitCode::unusable);
}

}  // namespace
}  // namespace tlstrata::serve
