#include <gtest/gtest.h>

#include "ossl/bare_primitives.h"
#include "ossl/certificate.h"
#include "ossl/endpoint.h"
#include "ossl/primitive_costs.h"

namespace tlstrata::ossl {
namespace {

constexpr std::uint16_t x25519 = 0x001D;
constexpr std::uint16_t hybrid = 0x11EC;

// A ClientHello in memory, and what it cost.
PrimitiveCosts hello_with(bool detailed) {
  EndpointSettings settings;
  settings.groups = {hybrid};
  settings.key_shares = {hybrid};
  const auto endpoint = Endpoint::create(settings);
  EXPECT_TRUE(endpoint) << endpoint.error().what;
  Pipe up;
  Pipe down;
  Wire wire{&down, &up};
  PrimitiveCosts costs;
  costs.detailed = detailed;
  const PrimitiveMeter meter(&costs);
  auto peer = Peer::start(*endpoint, wire, {});
  EXPECT_EQ(peer->handshake(), Step::want_read);
  EXPECT_GT(up.bytes.size(), 1216U);
  EXPECT_EQ(wire.sent, up.bytes.size());
  return costs;
}

TEST(DetailCosts, AreTakenOnlyWhereTheyAreAskedFor) {
  const PrimitiveCosts plain = hello_with(false);
  EXPECT_EQ(plain.brackets, 1U);  // the key generation
  for (const Nanos each : plain.detail_ns) {
    EXPECT_EQ(each, 0);
  }
  const PrimitiveCosts detailed = hello_with(true);
  EXPECT_EQ(detailed.key_generations, 1U);
  EXPECT_GT(detailed.brackets, 4U);
  EXPECT_GT(detailed.detail_ns[static_cast<std::size_t>(Detail::key_coding)], 0);
  EXPECT_GT(detailed.detail_ns[static_cast<std::size_t>(Detail::randomness)], 0);
  EXPECT_EQ(detailed.detail_ns[static_cast<std::size_t>(Detail::records)], 0);  // nothing is protected yet
}

TEST(BarePrimitives, EveryGroupAndCertificateHasItsTimes) {
  const auto time = [](const PrimitiveTimes& times, Primitive which) { return times[static_cast<std::size_t>(which)]; };
  for (const std::uint16_t code :
       {x25519, hybrid, std::uint16_t{0x0202}, std::uint16_t{0x0017}, std::uint16_t{0x11EB}}) {
    const auto group = BareGroup::create(code);
    ASSERT_TRUE(group) << code;
    PrimitiveTimes times{};
    ASSERT_TRUE(group->sample(times)) << code;
    EXPECT_GT(time(times, Primitive::key_generation), 0);
    EXPECT_GT(time(times, Primitive::answer), 0);
    EXPECT_GT(time(times, Primitive::agreement), 0);
    EXPECT_EQ(time(times, Primitive::sign), 0);
  }
  EXPECT_FALSE(BareGroup::create(0xABCD));
  for (const KeyKind kind : all_key_kinds) {
    const auto root = CertificateAuthority::create(kind, "root", 3600);
    const auto leaf = root->issue(kind, {{"localhost"}, {}}, 3600);
    const auto bare = BareSignature::create(leaf->certificate_pem, leaf->private_key_pem, *root->certificate_pem());
    ASSERT_TRUE(bare) << key_kind_name(kind);
    PrimitiveTimes times{};
    ASSERT_TRUE(bare->sample(times)) << key_kind_name(kind);
    EXPECT_GT(time(times, Primitive::sign), 0);
    EXPECT_GT(time(times, Primitive::verify), 0);
    EXPECT_GT(time(times, Primitive::chain), 0);
  }
}

}  // namespace
}  // namespace tlstrata::ossl
