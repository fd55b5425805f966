#include "report/figures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/answer.h"
#include "report/axis.h"
#include "report/escape.h"
#include "report/svg.h"

namespace tlstrata::report {
namespace {

TEST(Figures, HaveOneUnitAndEnoughDigits) {
  EXPECT_EQ(scaled(312'400, scale_for(312'400)), "312.4");
  EXPECT_EQ(scaled(38'051, scale_for(99'000)), "38.05");
  EXPECT_EQ(scaled(1'749'312, scale_for(1'749'312)), "1,749");
  EXPECT_EQ(scaled(16'480'000, scale_for(16'480'000)), "16.48");
  EXPECT_EQ(unit_name(scale_for(16'480'000).unit), "ms");
  EXPECT_EQ(scaled(120, scale_for(900)), "120");
  EXPECT_EQ(unit_name(scale_for(0).unit), "ns");
}

TEST(Figures, SignsAreForWhatIsNotZero) {
  const Scale scale{TimeUnit::microsecond, 1};
  EXPECT_EQ(scaled_signed(1'234, scale), "+1.2");
  EXPECT_EQ(scaled_signed(-1'234, scale), "-1.2");
  EXPECT_EQ(scaled_signed(-12, scale), "0.0");
  EXPECT_EQ(scaled_signed(-1'234'567'000, scale), "-1,234,567.0");
  EXPECT_EQ(with_unit_signed(41'200), "+41.2 us");
}

TEST(Figures, RangesShareAUnit) {
  EXPECT_EQ(range_with_unit({131'000, 203'400}), "131 to 203 us");
  EXPECT_EQ(range_with_unit({-766, 891}), "-766 to 891 ns");
  EXPECT_EQ(range_with_unit({-1'470, 1'370}), "-1.47 to 1.37 us");
  EXPECT_EQ(range_with_unit({900'000, 1'200'000}), "0.90 to 1.20 ms");
}

TEST(Figures, OtherKinds) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(ratio(1.064), "1.06");
  EXPECT_EQ(ratio(12.34), "12.3");
  EXPECT_EQ(ratio(345.6), "346");
  EXPECT_EQ(percent(0.1234), "12.3 %");
  EXPECT_EQ(p_value(0.0004), "< 0.001");
  EXPECT_EQ(p_value(0.0123), "0.012");
  EXPECT_EQ(bytes(1'551.5), "1,551.5");
  EXPECT_EQ(with_micro("312 us"), "312\u00a0\u00b5s");
  EXPECT_EQ(with_micro("131 to 203 ms"), "131 to 203\u00a0ms");
}

TEST(Axis, TicksAreRoundAndInside) {
  const Axis linear(Axis::Kind::linear, 23.4, 66.1, 0, 100);
  EXPECT_EQ(linear.ticks(6), (std::vector<double>{30, 40, 50, 60}));
  EXPECT_DOUBLE_EQ(linear.place(23.4), 0);
  EXPECT_DOUBLE_EQ(linear.place(66.1), 100);
  const Axis logarithmic(Axis::Kind::logarithmic, 15, 2500, 0, 100);
  EXPECT_EQ(logarithmic.ticks(8), (std::vector<double>{20, 50, 100, 200, 500, 1000, 2000}));
  EXPECT_EQ(logarithmic.ticks(3), (std::vector<double>{100, 1000}));
  EXPECT_EQ(Axis(Axis::Kind::linear, -0.3, 0.3, 0, 1).ticks(6)[3], 0.0);
  EXPECT_EQ(tick_label(0.30000000000000004), "0.3");
  EXPECT_EQ(tick_label(-1500), "-1,500");
}

TEST(Svg, EscapesTextAndTips) {
  Svg svg(10, 10, "\"><script>");
  svg.text({1, 2.505}, "a<b", "label");
  svg.circle({1, 2}, 3, "dot", "<tip>");
  const std::string picture = svg.finish();
  EXPECT_EQ(picture.find("<script>"), std::string::npos);
  EXPECT_NE(picture.find("a&lt;b"), std::string::npos);
  EXPECT_NE(picture.find("<title>&lt;tip&gt;</title></circle>"), std::string::npos);
}

TEST(Escape, LeavesPlainNamesReadable) {
  for (const char* name : {"x25519-4KiB", "tcp_to_tls", "p < 0.05"}) {
    EXPECT_EQ(for_markdown(name), std::string(name) == "p < 0.05" ? "p &#60; 0.05" : name);
  }
  EXPECT_EQ(for_latex("a_b"), "a\\_b");
  EXPECT_EQ(for_html("a_b"), "a_b");
}

}  // namespace
}  // namespace tlstrata::report
