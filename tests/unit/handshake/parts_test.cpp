#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "handshake/cpu_account.h"
#include "handshake/messages.h"
#include "handshake/tcp_view.h"

namespace tlstrata::handshake {
namespace {

using ossl::Side;

TEST(TcpView, TheWindowCountsSegmentsWithoutTheirOptions) {
  const TcpPath path;
  EXPECT_EQ(path.window_bytes(), 14'480U);
  const std::array fits{Flight{Side::client, 300}, Flight{Side::server, 14'480}, Flight{Side::client, 80}};
  EXPECT_EQ(tcp_view(fits, path).window_excess, 0);
  EXPECT_EQ(tcp_view(fits, path).round_trips, 1U);
  const std::array beyond{Flight{Side::client, 300}, Flight{Side::server, 14'481}, Flight{Side::client, 80}};
  const TcpView view = tcp_view(beyond, path);
  EXPECT_EQ(view.window_excess, 1);
  EXPECT_EQ(view.flights[1].segments, 11U);
  EXPECT_EQ(view.flights[1].waits, 1U);
  EXPECT_EQ(view.round_trips, 2U);
}

TEST(TcpView, SlowStartDoubles) {
  const TcpPath path{1460, 12, 2};
  const auto waits = [&](std::uint64_t segments) {
    const std::array flights{Flight{Side::server, segments * path.segment_bytes()}};
    return tcp_view(flights, path).flights[0].waits;
  };
  EXPECT_EQ(waits(2), 0U);
  EXPECT_EQ(waits(3), 1U);
  EXPECT_EQ(waits(6), 1U);  // 2 + 4
  EXPECT_EQ(waits(7), 2U);
  EXPECT_EQ(waits(14), 2U);  // 2 + 4 + 8
  EXPECT_EQ(waits(15), 3U);
}

CostSample sample_of(Nanos total_ns, Nanos keys_ns) {
  CostSample sample;
  sample.total_ns = total_ns;
  sample.costs.key_generation_ns[0] = keys_ns;
  sample.costs.detail_ns[static_cast<std::size_t>(ossl::Detail::records)] = 7;
  return sample;
}

TEST(CpuAccount, IsOfTheMiddleHalfAndAddsUp) {
  std::vector<CostSample> samples;
  for (Nanos i = 0; i < 8; ++i) {
    samples.push_back(sample_of(100 + i, 50));
  }
  samples.front().total_ns = 1'000'000;  // disturbed
  const auto account = cpu_account(samples);
  ASSERT_TRUE(account);
  EXPECT_EQ(account->n, 4U);
  EXPECT_DOUBLE_EQ(account->total_ns, (103 + 104 + 105 + 106) / 4.0);
  EXPECT_DOUBLE_EQ(std::accumulate(account->parts_ns.begin(), account->parts_ns.end(), 0.0), account->total_ns);
  EXPECT_DOUBLE_EQ(account->parts_ns[static_cast<std::size_t>(Part::key_generation_1)], 50);
  EXPECT_DOUBLE_EQ(account->parts_ns[static_cast<std::size_t>(Part::records)], 7);
  EXPECT_FALSE(cpu_account({}));
  EXPECT_DOUBLE_EQ(*middle_mean({1000, 1, 2, 3, 4, 0, 5, 6}), (2 + 3 + 4 + 5) / 4.0);
}

TEST(CpuAccount, EachPartHasANameAndATitleOfItsOwn) {
  for (std::size_t a = 0; a < part_count; ++a) {
    EXPECT_FALSE(part_title(static_cast<Part>(a)).empty());
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NE(part_name(static_cast<Part>(a)), part_name(static_cast<Part>(b)));
    }
  }
}

using Bytes = std::vector<std::uint8_t>;

Bytes encrypted_extensions(std::uint8_t extension_length) {
  return {8, 0, 0, 10, 0, 8, 0, 10, 0, extension_length, 0, 2, 0x11, 0xEC};
}

TEST(Messages, EveryByteOfAMessageIsSaidOnce) {
  const auto account = account_of_message(encrypted_extensions(4));
  ASSERT_TRUE(account);
  EXPECT_EQ(account->name, "EncryptedExtensions");
  ASSERT_EQ(account->lines.size(), 3U);
  EXPECT_EQ(account->lines[2].field, "supported_groups");
  EXPECT_EQ(account->lines[2].detail, "X25519MLKEM768");
  std::uint32_t sum = 0;
  for (const AccountLine& line : account->lines) {
    sum += line.bytes;
  }
  EXPECT_EQ(sum, 14U);
}

TEST(Messages, LengthsThatDoNotFitAreRefused) {
  EXPECT_FALSE(account_of_message(encrypted_extensions(5)));
  EXPECT_FALSE(account_of_message(encrypted_extensions(3)));
  EXPECT_FALSE(account_of_message(Bytes{8, 0, 0, 11, 0, 8, 0, 10, 0, 4, 0, 2, 0x11, 0xEC}));
  EXPECT_FALSE(account_of_message(Bytes{}));
  EXPECT_FALSE(account_of_message(Bytes{1, 0, 0, 1, 3}));
}

TEST(Account, ARecordThatHoldsMoreThanItsMessageIsRefused) {
  using Kind = ossl::TraceEvent::Kind;
  const Bytes message = encrypted_extensions(4);
  const auto trace = [&](std::uint8_t length) {
    return ossl::Trace{{Kind::record, {22, 3, 3, 0, length}}, {Kind::handshake, message}};
  };
  const auto good = account_of(trace(14));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->total, 19U);
  EXPECT_FALSE(account_of(trace(15)));
  EXPECT_FALSE(account_of(trace(13)));
  EXPECT_FALSE(account_of(ossl::Trace{{Kind::record, {22, 3, 3, 0, 14}}}));
}

TEST(Account, ProtectionIsWhatARecordHoldsBeyondItsMessage) {
  using Kind = ossl::TraceEvent::Kind;
  const auto account = account_of(ossl::Trace{
      {Kind::record, {23, 3, 3, 0, 14 + 17}}, {Kind::inner, {22}}, {Kind::handshake, encrypted_extensions(4)}});
  ASSERT_TRUE(account);
  EXPECT_EQ(account->total, 14U + 17U + 5U);
  EXPECT_EQ(account->records.front().type, "protected handshake");
  EXPECT_EQ(account->lines.back().detail, "1 x (1 inner type + 16 tag)");
}

}  // namespace
}  // namespace tlstrata::handshake
