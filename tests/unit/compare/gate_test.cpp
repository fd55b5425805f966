#include "compare/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tlstrata::compare {
namespace {

using testing::HasSubstr;

TEST(Condition, IsWhatItSays) {
  const Condition relative = parse_condition(" tls_handshake.p50 > +5% ").value();
  EXPECT_EQ(relative.measure, 2U);
  EXPECT_EQ(relative.figure, 0U);
  EXPECT_EQ(relative.relation, Relation::above);
  EXPECT_EQ(relative.threshold, Threshold::relative_change);
  EXPECT_DOUBLE_EQ(relative.amount, 0.05);
  EXPECT_FALSE(relative.cell);
  EXPECT_EQ(relative.text, "tls_handshake.p50 > +5%");

  const Condition absolute = parse_condition("total>=+1.5ms").value();
  EXPECT_EQ(absolute.measure, report::total_measure);
  EXPECT_EQ(absolute.threshold, Threshold::change);
  EXPECT_EQ(absolute.relation, Relation::at_least);
  EXPECT_DOUBLE_EQ(absolute.amount, 1.5e6);

  const Condition value = parse_condition("app_response.p99 < 20 ms").value();
  EXPECT_EQ(value.threshold, Threshold::value);
  EXPECT_EQ(value.figure, 3U);
  EXPECT_EQ(value.relation, Relation::below);

  EXPECT_DOUBLE_EQ(parse_condition("tcp_to_tls.mean <= -40us").value().amount, -40e3);
  EXPECT_EQ(parse_condition("client.cpu > 1.1x").value().threshold, Threshold::ratio);
  EXPECT_EQ(parse_condition("client.cpu > +10%").value().component, "client");
  EXPECT_EQ(parse_condition("cos > 15%").value().threshold, Threshold::value);
  EXPECT_DOUBLE_EQ(parse_condition("cos < -1%").value().amount, -0.01);
  EXPECT_DOUBLE_EQ(parse_condition("failures > 0.1%").value().amount, 0.001);
  EXPECT_EQ(parse_condition("a:b > c:total > +5%").value().cell, "a:b > c") << "a cell is called what it is called";
}

TEST(Condition, OfAnythingElseIsRefused) {
  for (const std::string& wrong : {std::string(),
                                   std::string(" "),
                                   std::string(">"),
                                   std::string("total"),
                                   std::string("total > "),
                                   std::string("total > 5"),
                                   std::string("total > 5%"),
                                   std::string("total > +5"),
                                   std::string("total > +x%"),
                                   std::string("total > ++5%"),
                                   std::string("total > +-5%"),
                                   std::string("total > +1.1x"),
                                   std::string("total = +5%"),
                                   std::string("total.p51 > +5%"),
                                   std::string("total. > +5%"),
                                   std::string("totals > +5%"),
                                   std::string("total > +5 parsec"),
                                   std::string("total > nan%"),
                                   std::string("total > +inf%"),
                                   std::string("total > +1e999us"),
                                   std::string("total > +99999999999999999s"),
                                   std::string("total > +5%;rm -rf"),
                                   std::string("cos > 15us"),
                                   std::string("failures > +1%"),
                                   std::string("cpu > 1.1x"),
                                   std::string("client.cpu.p50 > 1.1x"),
                                   std::string("total > +5%\0", 12),
                                   std::string(5000, 'x') + ":total > +5%",
                                   std::string("\x1b[2Jtotal > +5%")}) {
    const auto refused = parse_condition(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
    EXPECT_THAT(describe(refused.error()), testing::Not(HasSubstr("\x1b")));
    EXPECT_LT(describe(refused.error()).size(), 3000U);
  }
}

}  // namespace
}  // namespace tlstrata::compare
