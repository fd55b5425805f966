#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "strata/facts.h"

namespace tlstrata::strata {
namespace {

constexpr Nanos start = 1'700'000'000'000'000'000;

// Packet n is stamped n microseconds after the start.
Stamp at(std::uint64_t packet) {
  return {start + static_cast<Nanos>(packet) * 1000, packet};
}

// A whole transaction; packets 1 to 12 carry its boundaries.
Facts whole() {
  Facts facts;
  facts.opened = at(1);
  facts.syn = at(1);
  facts.syn_ack = at(2);
  facts.client_hello = at(4);
  facts.client_hello_complete = at(5);
  facts.server_hello = at(6);
  facts.server_finished = at(8);
  facts.client_finished = at(9);
  facts.last_progress = at(12);
  facts.any_data = true;
  facts.application_data = true;
  facts.boundary = Boundary::decrypted;
  facts.close = tcp::CloseReason::finished;
  facts.capture_end_ns = at(20).time_ns;
  facts.connection.tls_version = 0x0304;
  facts.connection.start_ns = start;
  Exchange exchange;
  exchange.request = at(10);
  exchange.response = at(11);
  exchange.response_end = at(12);
  exchange.method = "GET";
  exchange.status = std::uint16_t{200};
  facts.exchanges.push_back(exchange);
  return facts;
}

Transaction judged(const Facts& facts) {
  const auto rows = judge(Facts(facts));
  EXPECT_EQ(rows.size(), 1U);
  return rows.front();
}

Nanos sum_of_layers(const Transaction& row) {
  EXPECT_TRUE(row.has_all_layers());
  return std::accumulate(row.layers.begin(), row.layers.end(), Nanos{0},
                         [](Nanos sum, const auto& layer) { return sum + layer.value(); });
}

Nanos sum_of_parts(const Transaction& row) {
  return std::accumulate(row.handshake_parts.begin(), row.handshake_parts.end(), Nanos{0},
                         [](Nanos sum, const auto& part) { return sum + part.value_or(0); });
}

const std::optional<Nanos>& part(const Transaction& row, HandshakePart which) {
  return row.handshake_parts[static_cast<std::size_t>(which)];
}

TEST(Judge, AWholeTransaction) {
  const Transaction row = judged(whole());
  EXPECT_EQ(row.outcome, Outcome::complete);
  EXPECT_EQ(row.boundary, Boundary::decrypted);
  EXPECT_EQ(row.layer(Layer::tcp_handshake), 1000);
  EXPECT_EQ(row.layer(Layer::tcp_to_tls), 2000);
  EXPECT_EQ(row.layer(Layer::tls_handshake), 5000);
  EXPECT_EQ(row.layer(Layer::tls_to_app), 1000);
  EXPECT_EQ(row.layer(Layer::app_response), 1000);
  EXPECT_EQ(row.total_ns, 10'000);
  EXPECT_EQ(row.last_byte_ns, 11'000);
  EXPECT_EQ(row.request_ns, at(10).time_ns);
  EXPECT_EQ(row.request, 1U);
  EXPECT_EQ(row.method, "GET");
  EXPECT_EQ(row.status, 200);
  EXPECT_FALSE(row.inverted);
  EXPECT_EQ(sum_of_layers(row), row.total_ns);
}

TEST(Judge, TheHandshakesPartsSumToIt) {
  const Transaction row = judged(whole());
  EXPECT_EQ(part(row, HandshakePart::hello_send), 1000);
  EXPECT_FALSE(part(row, HandshakePart::retry)) << "absent without a retry, never zero";
  EXPECT_EQ(part(row, HandshakePart::server_wait), 1000);
  EXPECT_EQ(part(row, HandshakePart::server_flight), 2000);
  EXPECT_EQ(part(row, HandshakePart::client_finish), 1000);
  EXPECT_EQ(sum_of_parts(row), row.layer(Layer::tls_handshake));
  EXPECT_EQ(row.client_hello_complete_ns, 1000);
}

TEST(Judge, ARetryIsItemisedAndThePartsStillSum) {
  Facts facts = whole();
  facts.connection.hrr = true;
  facts.client_hello = at(3);
  facts.client_hello_complete = at(4);
  facts.second_client_hello_complete = at(5);
  const Transaction row = judged(facts);
  EXPECT_EQ(part(row, HandshakePart::hello_send), 1000);
  EXPECT_EQ(part(row, HandshakePart::retry), 1000) << "from the first hello's end to the second's";
  EXPECT_EQ(part(row, HandshakePart::server_wait), 1000) << "from the second hello";
  EXPECT_EQ(row.layer(Layer::tls_handshake), 6000);
  EXPECT_EQ(sum_of_parts(row), row.layer(Layer::tls_handshake));
}

TEST(Judge, AHelloInOnePacketHasNoCompletionOfItsOwn) {
  Facts facts = whole();
  facts.client_hello_complete = facts.client_hello;
  const Transaction row = judged(facts);
  EXPECT_FALSE(row.client_hello_complete_ns);
  EXPECT_EQ(part(row, HandshakePart::hello_send), 0) << "zero, not absent";
}

TEST(Judge, Tls12SplitsOnlyUpToTheServerHello) {
  Facts facts = whole();
  facts.connection.tls_version = 0x0303;
  const Transaction row = judged(facts);
  EXPECT_EQ(part(row, HandshakePart::server_wait), 1000);
  EXPECT_FALSE(part(row, HandshakePart::server_flight));
  EXPECT_FALSE(part(row, HandshakePart::client_finish));
  EXPECT_EQ(row.layer(Layer::tls_handshake), 5000);
}

TEST(Judge, LaterRequestsHaveNoFirstFourLayers) {
  Facts facts = whole();
  Exchange second;
  second.id = 1;
  second.request = at(14);
  second.response = at(16);
  second.response_end = at(17);
  facts.exchanges.push_back(second);
  const auto rows = judge(Facts(facts));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].request, 2U);
  EXPECT_EQ(rows[1].outcome, Outcome::complete);
  for (const Layer layer : {Layer::tcp_handshake, Layer::tcp_to_tls, Layer::tls_handshake, Layer::tls_to_app}) {
    EXPECT_FALSE(rows[1].layer(layer));
  }
  EXPECT_EQ(rows[1].layer(Layer::app_response), 2000);
  EXPECT_EQ(rows[1].total_ns, 2000);
  EXPECT_EQ(rows[1].last_byte_ns, 3000);
  EXPECT_EQ(rows[1].connection.start_ns, start) << "the connection's start is on all its rows";
}

TEST(Judge, EarlyDataLeavesTlsToAppAbsent) {
  Facts facts = whole();
  facts.connection.early_data = true;
  facts.exchanges[0].request = at(4);
  facts.exchanges[0].is_early = true;
  const Transaction row = judged(facts);
  EXPECT_EQ(row.outcome, Outcome::complete);
  EXPECT_FALSE(row.layer(Layer::tls_to_app));
  EXPECT_EQ(row.layer(Layer::app_response), 7000);
  EXPECT_EQ(row.total_ns, 10'000);
}

TEST(Judge, ZeroIsNotAbsent) {
  Facts facts = whole();
  facts.exchanges[0].request = facts.client_finished;  // Finished and request in one packet
  const Transaction row = judged(facts);
  EXPECT_EQ(row.layer(Layer::tls_to_app), 0);
  EXPECT_FALSE(row.inverted);
  EXPECT_EQ(sum_of_layers(row), row.total_ns);
}

TEST(Judge, AnIntervalThatWouldBeNegativeIsAbsentAndFlagged) {
  Facts facts = whole();
  facts.client_hello = at(1);  // Fast Open: the hello is in the SYN
  facts.client_hello_complete = at(1);
  Transaction row = judged(facts);
  EXPECT_FALSE(row.layer(Layer::tcp_to_tls));
  EXPECT_TRUE(row.inverted);
  EXPECT_EQ(row.total_ns, 10'000);
  EXPECT_EQ(row.outcome, Outcome::complete);

  facts = whole();
  facts.exchanges[0].request = at(7);  // overtakes a lost Finished
  row = judged(facts);
  EXPECT_FALSE(row.layer(Layer::tls_to_app));
  EXPECT_TRUE(row.inverted);
  for (const auto& layer : row.layers) {
    EXPECT_GE(layer.value_or(0), 0);
  }
}

TEST(Judge, TimesOnEitherSideOfTheEpochDoNotMatter) {
  Facts facts = whole();
  for (Stamp* stamp : {&facts.syn, &facts.syn_ack, &facts.client_hello, &facts.client_hello_complete,
                       &facts.server_hello, &facts.server_finished, &facts.client_finished, &facts.exchanges[0].request,
                       &facts.exchanges[0].response, &facts.exchanges[0].response_end}) {
    stamp->time_ns -= start + 5000;
  }
  const Transaction row = judged(facts);
  EXPECT_EQ(row.total_ns, 10'000);
  EXPECT_EQ(sum_of_layers(row), 10'000);
}

// --- outcomes, in the contract's order

struct Case {
  const char* name;
  Outcome outcome;
  std::function<void(Facts&)> change;
};

void no_exchange(Facts& facts) {
  facts.exchanges.clear();
  facts.application_data = false;
}
void no_handshake(Facts& facts) {
  no_exchange(facts);
  facts.client_finished = {};
  facts.server_finished = {};
  facts.boundary = Boundary::plaintext;
}
void only_syn(Facts& facts) {
  no_handshake(facts);
  facts.syn_ack = facts.client_hello = facts.client_hello_complete = facts.server_hello = {};
  facts.any_data = false;
  facts.connection.tls_version = 0;
}
void silent_long_ago(Facts& facts) {
  facts.close = tcp::CloseReason::capture_ended;
  facts.capture_end_ns = facts.last_progress.time_ns + 10 * nanos_per_second;
}
void cut_short(Facts& facts) {
  facts.close = tcp::CloseReason::capture_ended;
  facts.capture_end_ns = facts.last_progress.time_ns + nanos_per_millisecond;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"an old version", Outcome::unsupported, [](Facts& f) { f.unsupported = true; }},
      {"no HTTP inside", Outcome::unsupported,
       [](Facts& f) {
         no_exchange(f);
         f.not_http = true;
       }},
      {"bytes missing before a boundary", Outcome::gap,
       [](Facts& f) {
         no_handshake(f);
         f.missing_bytes = true;
       }},
      {"bytes cut before a boundary", Outcome::truncated,
       [](Facts& f) {
         no_handshake(f);
         f.cut_bytes = true;
       }},
      {"a hole at the capture's end", Outcome::truncated,
       [](Facts& f) {
         no_exchange(f);
         f.unread_end = true;
       }},
      {"the capture ends in mid-handshake", Outcome::truncated,
       [](Facts& f) {
         no_handshake(f);
         cut_short(f);
       }},
      {"a reset to the SYN", Outcome::refused,
       [](Facts& f) {
         only_syn(f);
         f.reset = at(2);
       }},
      {"no SYN-ACK", Outcome::tcp_timeout,
       [](Facts& f) {
         only_syn(f);
         f.last_progress = f.syn;
         silent_long_ago(f);
       }},
      {"no SYN-ACK, given up", Outcome::tcp_timeout,
       [](Facts& f) {
         only_syn(f);
         f.reset = at(2);
         f.reset_by_client = true;
       }},
      {"the capture ends right after the SYN", Outcome::truncated,
       [](Facts& f) {
         only_syn(f);
         f.last_progress = f.syn;
         cut_short(f);
       }},
      {"data that is no TLS", Outcome::no_tls,
       [](Facts& f) {
         only_syn(f);
         f.syn_ack = at(2);
         f.any_data = true;
         f.not_tls = true;
       }},
      {"a fatal alert in the handshake", Outcome::tls_alert,
       [](Facts& f) {
         no_handshake(f);
         f.fatal_alert = true;
       }},
      {"a reset in the handshake", Outcome::reset,
       [](Facts& f) {
         no_handshake(f);
         f.reset = at(9);
       }},
      {"a reset after the request", Outcome::reset,
       [](Facts& f) {
         f.exchanges[0].response = f.exchanges[0].response_end = {};
         f.reset = at(11);
       }},
      {"silence after the ClientHello", Outcome::handshake_incomplete,
       [](Facts& f) {
         no_handshake(f);
         f.server_hello = {};
         silent_long_ago(f);
       }},
      {"an end after the ServerHello", Outcome::handshake_incomplete, [](Facts& f) { no_handshake(f); }},
      {"a handshake, then nothing", Outcome::no_request, [](Facts& f) { no_exchange(f); }},
      {"a request, then silence", Outcome::no_response,
       [](Facts& f) { f.exchanges[0].response = f.exchanges[0].response_end = {}; }},
      {"no keys", Outcome::undecryptable,
       [](Facts& f) {
         no_handshake(f);
         f.opaque_client_data = f.opaque_server_data = true;
       }},
      {"no keys, reset at the end", Outcome::undecryptable,
       [](Facts& f) {
         no_handshake(f);
         f.opaque_client_data = f.opaque_server_data = true;
         f.reset = at(15);
       }},
      {"complete, but its start was not captured", Outcome::no_syn, [](Facts& f) { f.syn = {}; }},
      {"a running connection", Outcome::no_syn,
       [](Facts& f) {
         only_syn(f);
         f.syn = {};
         f.any_data = true;
         f.opaque_client_data = true;
       }},
      {"complete", Outcome::complete, [](Facts&) {}},
      {"complete, reset after the response", Outcome::complete, [](Facts& f) { f.reset = at(15); }},
      {"complete, bytes missing behind the boundaries", Outcome::complete, [](Facts& f) { f.missing_bytes = true; }},
      {"complete at the very end of the capture", Outcome::complete, [](Facts& f) { cut_short(f); }},
  };
  return all;
}

class JudgeOutcome : public testing::TestWithParam<std::size_t> {};

TEST_P(JudgeOutcome, IsTheContracts) {
  const Case& each = cases()[GetParam()];
  Facts facts = whole();
  each.change(facts);
  const auto rows = judge(Facts(facts));
  ASSERT_FALSE(rows.empty());
  for (const Transaction& row : rows) {
    EXPECT_EQ(name(row.outcome), name(each.outcome)) << each.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, JudgeOutcome, testing::Range(std::size_t{0}, cases().size()));

// What is said first in the contract's list is said, whatever else applies too.
TEST(Judge, TheFirstOutcomeThatAppliesWins) {
  Facts facts = whole();
  no_handshake(facts);
  facts.opaque_client_data = facts.opaque_server_data = true;
  EXPECT_EQ(judged(facts).outcome, Outcome::undecryptable);
  facts.fatal_alert = true;
  EXPECT_EQ(judged(facts).outcome, Outcome::tls_alert);
  facts.not_tls = true;
  facts.server_hello = {};
  EXPECT_EQ(judged(facts).outcome, Outcome::no_tls);
  facts.cut_bytes = true;
  EXPECT_EQ(judged(facts).outcome, Outcome::truncated);
  facts.missing_bytes = true;
  EXPECT_EQ(judged(facts).outcome, Outcome::gap);
  facts.unsupported = true;
  EXPECT_EQ(judged(facts).outcome, Outcome::unsupported);
}

TEST(Judge, EachRequestIsJudgedByItself) {
  Facts facts = whole();
  Exchange unanswered;
  unanswered.id = 1;
  unanswered.request = at(14);
  facts.exchanges.push_back(unanswered);
  const auto rows = judge(Facts(facts));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].outcome, Outcome::complete);
  EXPECT_EQ(rows[1].outcome, Outcome::no_response);
  EXPECT_FALSE(rows[1].layer(Layer::app_response));
  EXPECT_FALSE(rows[1].total_ns);
}

TEST(HandshakeComplete, Tls12NeedsBothFinished) {
  Facts facts = whole();
  EXPECT_TRUE(handshake_complete(facts));
  facts.server_finished = {};
  EXPECT_TRUE(handshake_complete(facts)) << "TLS 1.3: the client's comes last";
  facts.connection.tls_version = 0x0303;
  EXPECT_FALSE(handshake_complete(facts));
}

// Any subset of boundaries, at any times: no negative interval, and where all five are there they sum to the total.
TEST(Judge, InvariantsHoldForAnyFacts) {
  std::uint32_t state = 12'345;
  const auto random = [&state] {
    state = state * 1'664'525 + 1'013'904'223;
    return state >> 8U;
  };
  std::size_t with_all_layers = 0;
  for (int round = 0; round < 50'000; ++round) {
    Facts facts = whole();
    facts.connection.hrr = random() % 3 == 0;
    facts.second_client_hello_complete = at(5);
    for (Stamp* stamp : {&facts.syn, &facts.syn_ack, &facts.client_hello, &facts.client_hello_complete,
                         &facts.second_client_hello_complete, &facts.server_hello, &facts.server_finished,
                         &facts.client_finished, &facts.exchanges[0].request, &facts.exchanges[0].response}) {
      const auto roll = random() % 10;
      if (roll == 0) {
        *stamp = {};
      } else if (roll == 1) {
        *stamp = at(1 + random() % 20);
      }
    }
    facts.reset = random() % 4 == 0 ? at(random() % 20) : Stamp{};
    facts.missing_bytes = random() % 8 == 0;
    facts.fatal_alert = random() % 8 == 0;
    facts.opaque_client_data = random() % 4 == 0;
    facts.opaque_server_data = random() % 4 == 0;
    for (const Transaction& row : judge(std::move(facts))) {
      for (const auto& layer : row.layers) {
        ASSERT_GE(layer.value_or(0), 0);
      }
      for (const auto& each : row.handshake_parts) {
        ASSERT_GE(each.value_or(0), 0);
      }
      ASSERT_GE(row.total_ns.value_or(0), 0);
      if (row.has_all_layers() && row.total_ns) {
        ++with_all_layers;
        ASSERT_EQ(sum_of_layers(row), row.total_ns);
      }
      if (row.outcome == Outcome::complete) {
        ASSERT_TRUE(facts.syn.present() && facts.client_finished.present());
      }
    }
  }
  EXPECT_GT(with_all_layers, 1000U);
}

}  // namespace
}  // namespace tlstrata::strata
