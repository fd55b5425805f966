#include "load/load.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <thread>
#include <vector>

#include "io/poller.h"
#include "load/client_csv.h"
#include "load/summary.h"
#include "unit/io/scratch.h"

namespace tlstrata::load {
namespace {

// Accepts connections and does to each what the test says.
class Server {
 public:
  using Treatment = std::function<void(io::UniqueFd)>;

  explicit Server(Treatment treatment, int backlog = 128) : treatment_(std::move(treatment)) {
    const auto any = io::Address::from_text("127.0.0.1:0");
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), any->get(), any->size()), 0);
    EXPECT_EQ(::listen(listener_.get(), backlog), 0);
    if (treatment_) {
      thread_ = std::thread([this] { serve(); });
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    (void)::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  [[nodiscard]] std::string url() const { return "https://" + io::Address::local_of(listener_.get()).text() + "/"; }
  [[nodiscard]] io::Address address() const { return io::Address::local_of(listener_.get()); }

 private:
  void serve() {
    for (;;) {
      io::UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) {
        return;
      }
      treatment_(std::move(socket));
    }
  }

  Treatment treatment_;
  io::UniqueFd listener_;
  std::thread thread_;
};

void read_some(const io::UniqueFd& socket) {
  std::array<char, 65536> buffer{};
  (void)::recv(socket.get(), buffer.data(), buffer.size(), 0);
}

Options options_for(const std::string& url, std::uint64_t count) {
  Options options;
  options.url = url;
  options.groups = "X25519";
  options.verify = false;
  options.schedule = {1000, 3600 * nanos_per_second, count, Arrivals::constant, 1};
  return options;
}

void wait_until(Load& load, const std::function<bool()>& reached) {
  while (!reached()) {
    pollfd event{load.events_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&event, 1, 60'000), 1) << "the load hangs";
    load.clear_events();
  }
}

Results run(const Options& options) {
  auto load = Load::prepare(options);
  EXPECT_TRUE(load);
  load->begin();
  wait_until(*load, [&] { return load->is_warm(); });
  load->go();
  wait_until(*load, [&] { return load->has_ended(); });
  return load->finish();
}

// All transactions have this outcome and every one is accounted for.
void expect_all(const Results& results, Outcome outcome) {
  const auto expected = results.records.size();
  EXPECT_EQ(results.outcomes[static_cast<std::size_t>(outcome)], expected) << name(outcome);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : results.outcomes) {
    sum += count;
  }
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(results.failed, expected);
  for (const auto& [failure, count] : results.failures) {
    EXPECT_EQ(failure.first, outcome) << failure.second;
  }
}

TEST(Load, RefusedConnections) {
  io::Address closed;
  {
    const Server server(nullptr);
    closed = server.address();
  }
  const Results results = run(options_for("https://" + closed.text() + "/", 20));
  ASSERT_EQ(results.records.size(), 20U);
  expect_all(results, Outcome::refused);
  EXPECT_EQ(results.started, 20U);
}

TEST(Load, SilentServersTimeOutInTheHandshake) {
  std::vector<io::UniqueFd> kept;
  const Server server([&](io::UniqueFd socket) { kept.push_back(std::move(socket)); });
  Options options = options_for(server.url(), 20);
  options.timeouts.handshake_ns = 50 * nanos_per_millisecond;
  const Results results = run(options);
  expect_all(results, Outcome::handshake_incomplete);
  for (const Record* const one : results.records) {
    const Record& record = *one;
    EXPECT_TRUE(record.between(Instant::started, Instant::connected));
    EXPECT_FALSE(record.between(Instant::connected, Instant::handshaken));
  }
}

TEST(Load, NoSynAckIsATcpTimeOut) {
  // A listener that accepts nothing and whose backlog is full drops further SYNs.
  const Server server(nullptr, 0);
  std::vector<io::UniqueFd> fillers;
  for (int i = 0; i < 8; ++i) {
    fillers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    (void)::connect(fillers.back().get(), server.address().get(), server.address().size());
  }
  Options options = options_for(server.url(), 5);
  options.timeouts.connect_ns = 100 * nanos_per_millisecond;
  expect_all(run(options), Outcome::tcp_timeout);
}

TEST(Load, ServersThatCloseLeaveTheHandshakeIncomplete) {
  const Server server([](const io::UniqueFd& socket) {
    read_some(socket);
    (void)::shutdown(socket.get(), SHUT_WR);
    read_some(socket);
  });
  expect_all(run(options_for(server.url(), 20)), Outcome::handshake_incomplete);
}

TEST(Load, ResetsAreResets) {
  const Server server([](const io::UniqueFd& socket) {
    read_some(socket);
    const linger at_once{1, 0};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  });
  expect_all(run(options_for(server.url(), 20)), Outcome::reset);
}

TEST(Load, WhatIsNoTls) {
  const Server server([](const io::UniqueFd& socket) {
    read_some(socket);
    constexpr std::string_view text = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    (void)::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    (void)::shutdown(socket.get(), SHUT_WR);
    read_some(socket);
  });
  expect_all(run(options_for(server.url(), 20)), Outcome::no_tls);
}

TEST(Load, AlertsAreAlerts) {
  const Server server([](const io::UniqueFd& socket) {
    read_some(socket);
    const std::array<std::uint8_t, 7> alert{21, 3, 3, 0, 2, 2, 40};
    (void)::send(socket.get(), alert.data(), alert.size(), MSG_NOSIGNAL);
    (void)::shutdown(socket.get(), SHUT_WR);
    read_some(socket);
  });
  const Results results = run(options_for(server.url(), 20));
  expect_all(results, Outcome::tls_alert);
  ASSERT_EQ(results.failures.size(), 1U);
  EXPECT_EQ(results.failures.begin()->first.second, "alert handshake_failure");
}

// Transactions that are never answered do not hold up those after them.
TEST(Load, StartsDoNotWaitForResponses) {
  std::vector<io::UniqueFd> kept;
  const Server server([&](io::UniqueFd socket) { kept.push_back(std::move(socket)); });
  Options options = options_for(server.url(), 200);
  options.timeouts.handshake_ns = 300 * nanos_per_millisecond;
  const Results results = run(options);
  EXPECT_EQ(results.started, 200U);
  // 200 waits of 300 ms, one after the other, would be a minute.
  EXPECT_LT(results.elapsed_ns, 30 * nanos_per_second);
  for (std::size_t i = 1; i < results.records.size(); ++i) {
    EXPECT_EQ(results.records[i]->instant(Instant::scheduled) - results.records[i - 1]->instant(Instant::scheduled),
              nanos_per_millisecond);
    EXPECT_GE(*results.records[i]->between(Instant::scheduled, Instant::started), 0) << "never early";
  }
}

TEST(Load, WithoutDescriptorsNothingStartsAndTheRunEnds) {
  std::vector<io::UniqueFd> kept;
  const Server server([&](io::UniqueFd socket) { kept.push_back(std::move(socket)); });
  Options options = options_for(server.url(), 300);
  options.timeouts.handshake_ns = 500 * nanos_per_millisecond;
  auto load = Load::prepare(options);
  ASSERT_TRUE(load);
  load->begin();
  wait_until(*load, [&] { return load->is_warm(); });
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(load->events_fd()) + 60;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  load->go();
  wait_until(*load, [&] { return load->has_ended(); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const Results results = load->finish();
  const std::uint64_t not_started = results.outcomes[static_cast<std::size_t>(Outcome::not_started)];
  EXPECT_GT(not_started, 0U);
  EXPECT_EQ(results.started + not_started, 300U);
  for (const Record* const one : results.records) {
    const Record& record = *one;
    if (record.outcome == Outcome::not_started) {
      EXPECT_EQ(record.start_ns, 0);
      EXPECT_EQ(record.client.text(), "");
    }
  }
}

TEST(Load, CancelEndsItAndAccountsForEveryTransaction) {
  std::vector<io::UniqueFd> kept;
  const Server server([&](io::UniqueFd socket) { kept.push_back(std::move(socket)); });
  Options options = options_for(server.url(), 1'000'000);
  options.schedule.rate = 100;
  options.schedule.duration_ns = 100'000 * nanos_per_second;
  auto load = Load::prepare(options);
  ASSERT_TRUE(load);
  load->begin();
  wait_until(*load, [&] { return load->is_warm(); });
  load->go();
  while (load->progress().connections < 5) {
    std::this_thread::yield();
  }
  load->cancel();
  const Results results = load->finish();
  EXPECT_TRUE(results.cancelled);
  const std::uint64_t cancelled = results.outcomes[static_cast<std::size_t>(Outcome::cancelled)];
  const std::uint64_t not_started = results.outcomes[static_cast<std::size_t>(Outcome::not_started)];
  EXPECT_GE(cancelled, 5U);
  EXPECT_EQ(cancelled, results.started);
  EXPECT_EQ(cancelled + not_started, 1'000'000U);
}

TEST(Load, ThreadsShareTheSchedule) {
  const Server server([](const io::UniqueFd& socket) { read_some(socket); });
  Options options = options_for(server.url(), 101);
  options.threads = 3;
  options.groups = "X25519,P-256=2";
  options.timeouts.handshake_ns = 5 * nanos_per_second;
  const Results results = run(options);
  ASSERT_EQ(results.records.size(), 101U);
  std::array<int, 2> used{};
  for (std::size_t i = 0; i < results.records.size(); ++i) {
    ASSERT_EQ(results.records[i]->instant(Instant::scheduled) - results.records[0]->instant(Instant::scheduled),
              static_cast<Nanos>(i) * nanos_per_millisecond);
    ++used.at(results.records[i]->configuration);
  }
  EXPECT_NEAR(used[1], 2 * used[0], 3);
}

TEST(Load, ErrorsBeforeTheStart) {
  const Server server(nullptr);
  Options options = options_for(server.url(), 1);
  options.ca_file = "/nonexistent.pem";
  options.verify = true;
  EXPECT_EQ(Load::prepare(options).error().exit_code, ExitCode::unusable);
  options = options_for("http://a/", 1);
  EXPECT_EQ(Load::prepare(options).error().exit_code, ExitCode::usage);
  options = options_for(server.url(), 1);
  options.key_log = "/nonexistent/keys";
  EXPECT_EQ(Load::prepare(options).error().exit_code, ExitCode::unusable);
  options = options_for(server.url(), 1);
  options.local_addresses = "::1";
  EXPECT_EQ(Load::prepare(options).error().exit_code, ExitCode::usage);
  options.local_addresses = "x";
  EXPECT_EQ(Load::prepare(options).error().exit_code, ExitCode::usage);
}

TEST(Load, LocalAddressesTakeTurns) {
  const Server server([](const io::UniqueFd& socket) { read_some(socket); });
  Options options = options_for(server.url(), 30);
  options.local_addresses = "127.0.0.2-127.0.0.4";
  const Results results = run(options);
  for (std::size_t i = 0; i < results.records.size(); ++i) {
    const std::string client = results.records[i]->client.text();
    EXPECT_TRUE(client.starts_with("127.0.0." + std::to_string(2 + i % 3) + ":")) << i << ": " << client;
  }
}

TEST(Load, WarmUpIsApart) {
  const Server server([](const io::UniqueFd& socket) { read_some(socket); });
  Options options = options_for(server.url(), 4);
  options.warm_up = 7;
  options.threads = 2;
  const Results results = run(options);
  EXPECT_EQ(results.warm_up, 7U);
  EXPECT_EQ(results.records.size(), 4U);
  ASSERT_EQ(results.warm_up_failures.size(), 1U);
  EXPECT_EQ(results.warm_up_failures.begin()->second, 7U);
  std::uint64_t failures = 0;
  for (const auto& [failure, count] : results.failures) {
    failures += count;
  }
  EXPECT_EQ(failures, 4U);
}

TEST(ClientCsv, RowsAreWholeAndLabelled) {
  const Server server([](const io::UniqueFd& socket) { read_some(socket); });
  const Options options = options_for(server.url(), 3);
  auto load = Load::prepare(options);
  ASSERT_TRUE(load);
  const Plan plan = load->plan();
  const Results results = run(options);
  const io::Scratch scratch;
  auto file = io::OutputFile::create(scratch.path("client.csv"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_client_csv(*file, results, plan, {"=cell,1", 4}));
  const std::string text = io::content_of(scratch.path("client.csv"));
  EXPECT_TRUE(text.starts_with(
      "cell,block,client,server,start_ns,request,scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,"
      "request_send_ns,app_response_ns,total_ns,outcome,group,status,mode,"))
      << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  EXPECT_NE(text.find("\n\"'=cell,1\",4,127.0.0.1:"), std::string::npos) << text;
  EXPECT_NE(text.find(",,,,handshake_incomplete,,,open,0,0,"), std::string::npos) << text;
  std::vector<std::ptrdiff_t> commas;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    commas.push_back(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                text.begin() + static_cast<std::ptrdiff_t>(text.find('\n', at)), ','));
  }
  EXPECT_EQ(commas[1], commas[0] + 1) << "the cell has one of its own";
}

TEST(Distributions, OfKnownRecords) {
  Results results;
  RecordList list;
  for (Nanos i = 1; i <= 5; ++i) {
    Record& record = list.append(1)[0];
    record.outcome = i == 5 ? Outcome::no_response : Outcome::complete;
    record.configuration = static_cast<std::uint32_t>(i % 2);
    record.group = 0x1D;
    record.mark(Instant::scheduled, 1000);
    record.mark(Instant::started, 1000 + i);
    record.mark(Instant::woken, 2000 + i * 10);
    results.records.push_back(&record);
  }
  const auto all = distributions(results);
  const auto find = [&](std::string_view name, const std::vector<Distribution>& in) {
    return *std::ranges::find(in, name, &Distribution::name);
  };
  const Distribution tcp = find("tcp_handshake", all);
  EXPECT_EQ(tcp.n, 4U) << "complete ones only";
  EXPECT_EQ(tcp.min, 1009);
  EXPECT_EQ(tcp.max, 1036);
  EXPECT_EQ(tcp.p50, 1022.5);
  EXPECT_EQ(find("start_delay", all).n, 5U) << "all that started";
  EXPECT_EQ(find("tls_handshake", all).n, 0U);
  EXPECT_EQ(find("tcp_handshake", distributions(results, 1)).n, 2U);
  ASSERT_EQ(selected_groups(results).size(), 1U);
  EXPECT_EQ(selected_groups(results)[0].second, 5U);
}

}  // namespace
}  // namespace tlstrata::load
