#include <gtest/gtest.h>

#include "cli/columns.h"
#include "cli/handshake_callgrind.h"
#include "cli/handshake_output.h"
#include "cli/handshake_regression.h"

namespace tlstrata::cli {
namespace {

TEST(FailCondition, ReadsSharesDurationsAndNumbers) {
  const auto share = parse_fail_condition("server.cpu > +3%");
  ASSERT_TRUE(share);
  EXPECT_EQ(share->metric, "server.cpu");
  EXPECT_TRUE(share->relative);
  EXPECT_DOUBLE_EQ(share->threshold, 0.03);
  const auto duration = parse_fail_condition("client.cpu>10us");
  ASSERT_TRUE(duration);
  EXPECT_FALSE(duration->relative);
  EXPECT_DOUBLE_EQ(duration->threshold, 10'000);
  const auto bytes = parse_fail_condition(" client.bytes > 0 ");
  ASSERT_TRUE(bytes);
  EXPECT_DOUBLE_EQ(bytes->threshold, 0);
}

TEST(FailCondition, RefusesWhatItCannotRead) {
  for (const char* const wrong :
       {"", "server.cpu", "server.cpu < 3%", "proxy.cpu > 3%", "server.cpu > ", "server.cpu > %", "server.cpu > 3",
        "server.bytes > x", "server.bytes > nan", "server.cpu > -3%"}) {
    EXPECT_FALSE(parse_fail_condition(wrong)) << wrong;
  }
}

TEST(FailCondition, HoldsBeyondItsThresholdAndOnlyWhereNoiseIsExcluded) {
  const FailCondition condition = *parse_fail_condition("server.cpu > 3%");
  EXPECT_TRUE(holds(condition, {"", "server.cpu", 100, 104, 2.0, 6.0}));
  EXPECT_FALSE(holds(condition, {"", "server.cpu", 100, 102, 1.0, 3.0}));
  EXPECT_FALSE(holds(condition, {"", "server.cpu", 100, 104, -1.0, 9.0}));
  EXPECT_FALSE(holds(condition, {"", "client.cpu", 100, 104, 2.0, 6.0}));
  EXPECT_TRUE(holds(condition, {"", "server.cpu", 100, 104, std::nullopt, std::nullopt}));
}

TEST(Changes, AreFoundByNameAndMetric) {
  const auto document = [](double median, double shift) {
    report::Json blocks = report::Json::array();
    for (int i = 0; i < 10; ++i) {
      blocks.push_back(100 + shift + i % 3);
    }
    report::Json configuration{{"name", "a"},
                               {"server", {{"cpu_ns", {{"median", median}, {"block_medians", blocks}}}}},
                               {"client", {{"bytes_sent", {{"median", 7}}}}}};
    return report::Json{{"configurations", report::Json::array({configuration})}};
  };
  const auto changes = changes_between(document(101, 0), document(111, 10), 1);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].metric, "server.cpu");
  EXPECT_DOUBLE_EQ(changes[0].change(), 10);
  ASSERT_TRUE(changes[0].low);
  EXPECT_GT(*changes[0].low, 5);
  EXPECT_LT(*changes[0].high, 15);
  EXPECT_EQ(changes[1].metric, "client.bytes");
  EXPECT_FALSE(changes[1].low);
  EXPECT_TRUE(changes_between(report::Json::array(), document(1, 0), 1).empty());
}

TEST(Callgrind, AFunctionsInstructionsAreItsOwnAndThoseOfWhatItCalls) {
  const std::string output =
      "events: Ir\n\nfn=other\n1 1000\n\nfn=wanted\n3 10\n4 20\ncfn=inner\ncalls=2 9\n4 300\n\nfn=wanted2\n1 5000\n";
  EXPECT_DOUBLE_EQ(inclusive_instructions(output, "wanted"), 330);
  EXPECT_DOUBLE_EQ(inclusive_instructions(output, "missing"), 0);
}

TEST(Columns, AlignsTheFirstToTheLeftAndTheOthersToTheRight) {
  Columns table;
  table.add({"name", "bytes"});
  table.add({"a longer one", "\x1b[33m7\x1b[0m"});
  table.add({"x"});
  EXPECT_EQ(table.text(), "name          bytes\na longer one      \x1b[33m7\x1b[0m\nx\n");
}

TEST(Numbers, AreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-1'234'567), "-1,234,567");
  EXPECT_EQ(signed_grouped(1176), "+1,176");
  EXPECT_EQ(signed_grouped(-8), "-8");
}

}  // namespace
}  // namespace tlstrata::cli
