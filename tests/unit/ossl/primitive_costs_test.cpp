#include "ossl/primitive_costs.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "ossl/client.h"

namespace tlstrata::ossl {
namespace {

// Makes ClientHellos with the given shares, and says what that cost.
PrimitiveCosts hello_with(const std::vector<std::uint16_t>& groups, bool measure) {
  ClientSettings settings;
  settings.groups = groups;
  settings.key_shares = groups;
  settings.host = "localhost";
  const auto context = ClientContext::create(settings);
  std::array<int, 2> pair{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
  auto connection = ClientConnection::start(*context, pair[0], {false, measure, 0});
  EXPECT_EQ(connection->handshake(), Step::want_read);
  EXPECT_NE(connection->io().hello_began_ns, 0);
  EXPECT_GE(connection->io().hello_ended_ns, connection->io().hello_began_ns);
  const PrimitiveCosts costs = connection->costs();
  (void)::close(pair[0]);
  (void)::close(pair[1]);
  return costs;
}

TEST(PrimitiveCosts, LibsslCallsThisProgram) {
  EXPECT_TRUE(primitives_can_be_measured());
  EXPECT_GT(clock_cost_ns(), 0);
}

TEST(PrimitiveCosts, EachKeyShareIsSeenOnce) {
  const PrimitiveCosts one = hello_with({0x001D}, true);
  EXPECT_EQ(one.key_generations, 1U);
  EXPECT_GT(one.key_generation_ns[0], 0);
  EXPECT_EQ(one.sum_ns(), one.key_generation_ns[0]);
  // A hybrid's two parts are made inside libcrypto, in one call.
  const PrimitiveCosts two = hello_with({0x11EC, 0x001D}, true);
  EXPECT_EQ(two.key_generations, 2U);
  EXPECT_GT(two.key_generation_ns[0], two.key_generation_ns[1]);
  EXPECT_EQ(two.key_generation_ns[2], 0);
}

TEST(PrimitiveCosts, NothingIsMeasuredUnasked) {
  EXPECT_EQ(hello_with({0x001D}, false).key_generations, 0U);
}

}  // namespace
}  // namespace tlstrata::ossl
