#include "handshake/exchange.h"

#include <gtest/gtest.h>

#include "handshake/account.h"
#include "handshake/run.h"
#include "handshake/tcp_view.h"

namespace tlstrata::handshake {
namespace {

using ossl::Side;

constexpr std::uint16_t x25519 = 0x001D;
constexpr std::uint16_t hybrid = 0x11EC;
constexpr std::uint16_t mlkem1024 = 0x0202;
constexpr std::uint16_t tls13 = 0x0304;

Configuration with(std::vector<std::uint16_t> groups, std::vector<std::uint16_t> server = {}) {
  Configuration configuration;
  configuration.key_shares = {groups.front()};
  configuration.server_groups = server.empty() ? groups : std::move(server);
  configuration.groups = std::move(groups);
  configuration.name = "a test";
  return configuration;
}

std::unique_ptr<Exchange> exchange_of(const Configuration& configuration, Identities& identities,
                                      const ExchangeOptions& options = {}) {
  auto exchange = Exchange::create(configuration, identities, options);
  EXPECT_TRUE(exchange) << exchange.error().what;
  return exchange ? std::move(*exchange) : nullptr;
}

std::int64_t sum_of(const std::vector<AccountDifference>& lines, bool with_signature) {
  std::int64_t sum = 0;
  for (const AccountDifference& line : lines) {
    sum += with_signature || line.message != "CertificateVerify" ? line.bytes : 0;
  }
  return sum;
}

std::int64_t field_of(const SideAccount& account, const std::string& message, const std::string& field) {
  for (const AccountLine& line : account.lines) {
    if (line.message == message && line.field == field) {
      return line.bytes;
    }
  }
  return 0;
}

class AccountOfExchange : public ::testing::Test {
 protected:
  Account account_of_handshake(const Configuration& configuration) {
    const auto first = look_at(*exchange_of(configuration, identities_));
    EXPECT_TRUE(first) << first.error().what;
    return first ? first->account : Account{};
  }
  std::vector<AccountDifference> difference_of(Side side, std::uint16_t group) {
    return difference(account_of_handshake(with({x25519})).sides[at(side)],
                      account_of_handshake(with({group})).sides[at(side)]);
  }

  Identities identities_;
};

TEST_F(AccountOfExchange, TheHybridsBytesAllHaveNames) {
  const auto client = difference_of(Side::client, hybrid);
  ASSERT_EQ(client.size(), 2U);
  EXPECT_EQ(client[0].field, "key_share");
  EXPECT_EQ(client[0].bytes, 1184);
  EXPECT_EQ(client[0].before, "X25519 32");
  EXPECT_EQ(client[0].after, "X25519MLKEM768 1216");
  EXPECT_EQ(client[1].field, "ec_point_formats");
  EXPECT_EQ(client[1].bytes, -8);
  EXPECT_EQ(sum_of(client, true), 1176);
  const auto server = difference_of(Side::server, hybrid);
  EXPECT_EQ(sum_of(server, false), 1088);
  EXPECT_EQ(server.front().message, "ServerHello");
  EXPECT_EQ(server.front().field, "key_share");
}

TEST_F(AccountOfExchange, MlKemAloneCosts1536EachWay) {
  EXPECT_EQ(difference_of(Side::client, mlkem1024).front().bytes, 1536);
  EXPECT_EQ(sum_of(difference_of(Side::server, mlkem1024), false), 1536);
}

TEST_F(AccountOfExchange, AServerTellsItsListWhereTheShareIsNotItsFavourite) {
  const Account favourite = account_of_handshake(with({x25519}));
  const Account other = account_of_handshake(with({x25519}, {hybrid, mlkem1024, x25519}));
  EXPECT_EQ(field_of(favourite.sides[1], "EncryptedExtensions", "supported_groups"), 0);
  EXPECT_EQ(field_of(other.sides[1], "EncryptedExtensions", "supported_groups"), 4 + 2 + 3 * 2);
}

TEST_F(AccountOfExchange, ARetryIsNamed) {
  const auto first = look_at(*exchange_of(with({hybrid, x25519}, {x25519}), identities_));
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_TRUE(first->account.retry);
  EXPECT_EQ(first->agreement.group, x25519);
  EXPECT_EQ(first->account.sides[0].messages[1].name, "ClientHello 2");
  EXPECT_EQ(first->account.sides[1].messages[0].name, "HelloRetryRequest");
  EXPECT_EQ(tcp_view(first->flights, {}).round_trips, 2U);
  EXPECT_EQ(tcp_view(look_at(*exchange_of(with({x25519}), identities_))->flights, {}).round_trips, 1U);
}

TEST_F(AccountOfExchange, AChainInSeveralRecordsIsAccountedFor) {
  Configuration configuration = with({x25519});
  configuration.certificate = ossl::KeyKind::ml_dsa_65;
  configuration.chain = 4;  // more than one record holds
  const Account account = account_of_handshake(configuration);
  EXPECT_GT(account.sides[1].total, 20'000U);
  EXPECT_GT(field_of(account.sides[1], "Certificate", "certificate 4"), 5000);
}

TEST(Exchange, MeasuresBothSidesAndSaysWhatWasAgreedOn) {
  Identities identities;
  const auto exchange = exchange_of(with({hybrid}), identities);
  const Outcome outcome = exchange->run();
  ASSERT_TRUE(outcome.done) << outcome.failure;
  EXPECT_EQ(outcome.agreement.version, tls13);
  EXPECT_EQ(outcome.agreement.group, hybrid);
  EXPECT_FALSE(outcome.agreement.resumed);
  EXPECT_GT(outcome.cpu_ns[0], 0);
  EXPECT_GT(outcome.cpu_ns[1], 0);
  EXPECT_GT(outcome.bytes[0], 1216U);
  EXPECT_GT(outcome.bytes[1], 1120U);
}

TEST(Exchange, ResumesAgainAndAgainWithOneTicket) {
  Identities identities;
  Configuration configuration = with({x25519});
  configuration.resume = true;
  const auto exchange = exchange_of(configuration, identities);
  ASSERT_EQ(exchange->take_ticket(), std::nullopt);
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = exchange->run();
    ASSERT_TRUE(outcome.done) << outcome.failure;
    EXPECT_TRUE(outcome.agreement.resumed);
    EXPECT_EQ(outcome.agreement.group, x25519);
  }
}

TEST(Exchange, AClientWithACertificateSendsIt) {
  Identities identities;
  Configuration configuration = with({x25519});
  configuration.mutual = true;
  const auto first = look_at(*exchange_of(configuration, identities));
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_GT(first->account.sides[0].signature_bytes, 0U);
  EXPECT_GT(field_of(first->account.sides[0], "Certificate", "certificate 1"), 0);
}

TEST(Exchange, NothingInCommonIsAFailureThatSaysWhy) {
  Identities identities;
  const Outcome outcome = exchange_of(with({x25519}, {mlkem1024}), identities)->run();
  EXPECT_FALSE(outcome.done);
  EXPECT_NE(outcome.failure.find("server: no suitable"), std::string::npos) << outcome.failure;
}

// One side's settings, with a certificate of `own` and trust in `trusted`.
ossl::Endpoint endpoint_of(Side side, const Identity& own, const Identity& trusted) {
  ossl::EndpointSettings settings;
  settings.side = side;
  settings.groups = {x25519};
  settings.host = host;
  if (side == Side::client) {
    settings.key_shares = {x25519};
    settings.trusted_pem = trusted.root_pem;
  } else {
    settings.chain_pem = own.chain_pem;
    settings.key_pem = own.key_pem;
  }
  auto endpoint = ossl::Endpoint::create(settings);
  EXPECT_TRUE(endpoint) << endpoint.error().what;
  return std::move(*endpoint);
}

ossl::Step client_step_after_flight(const Identity& own, const Identity& trusted, std::string& failure) {
  const ossl::Endpoint client = endpoint_of(Side::client, own, trusted);
  const ossl::Endpoint server = endpoint_of(Side::server, own, trusted);
  ossl::Pipe up;
  ossl::Pipe down;
  ossl::Wire client_wire{&down, &up};
  ossl::Wire server_wire{&up, &down};
  auto asks = ossl::Peer::start(client, client_wire, {});
  auto answers = ossl::Peer::start(server, server_wire, {});
  EXPECT_EQ(asks->handshake(), ossl::Step::want_read);
  EXPECT_EQ(answers->handshake(), ossl::Step::want_read);
  const ossl::Step step = asks->handshake();
  failure = asks->failure();
  return step;
}

TEST(Exchange, AClientRefusesAnAuthorityThatItDoesNotKnow) {
  Identities identities;
  Identities others;
  const Identity& own = **identities.of(ossl::KeyKind::ecdsa_p256, 2);
  const Identity& other = **others.of(ossl::KeyKind::ecdsa_p256, 2);
  std::string failure;
  EXPECT_EQ(client_step_after_flight(own, own, failure), ossl::Step::done);
  EXPECT_EQ(client_step_after_flight(own, other, failure), ossl::Step::failed);
  EXPECT_EQ(failure, "certificate verify failed");
}

TEST(Exchange, SocketsAndColdContextsGiveTheSameHandshake) {
  Identities identities;
  const Outcome memory = exchange_of(with({hybrid}), identities)->run();
  for (const Transport transport : {Transport::socketpair, Transport::tcp}) {
    const auto exchange = exchange_of(with({hybrid}), identities, {transport, false, -1});
    for (int i = 0; i < 3; ++i) {
      const Outcome outcome = exchange->run();
      ASSERT_TRUE(outcome.done) << outcome.failure;
      EXPECT_EQ(outcome.agreement, memory.agreement);
      EXPECT_EQ(outcome.bytes[0], memory.bytes[0]);
      EXPECT_GT(outcome.cpu_ns[0], 0);
      EXPECT_GT(outcome.cpu_ns[1], 0);
    }
  }
  const Outcome cold = exchange_of(with({hybrid}), identities, {Transport::memory, true, -1})->run();
  ASSERT_TRUE(cold.done) << cold.failure;
  EXPECT_EQ(cold.bytes[0], memory.bytes[0]);
}

TEST(Exchange, AFailureOverSocketsEndsOnBothSides) {
  Identities identities;
  const Outcome outcome =
      exchange_of(with({x25519}, {mlkem1024}), identities, {Transport::socketpair, false, -1})->run();
  EXPECT_FALSE(outcome.done);
  EXPECT_FALSE(outcome.failure.empty());
}

}  // namespace
}  // namespace tlstrata::handshake
