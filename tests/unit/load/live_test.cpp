#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/live_histogram.h"
#include "load/metrics.h"

namespace tlstrata::load {
namespace {

TEST(LiveHistogram, EachValueFallsBetweenItsBounds) {
  for (std::uint64_t value = 0; value < (std::uint64_t{1} << 40U); value = value * 3 / 2 + 1) {
    const std::size_t bucket = LiveHistogram::bucket_of(value);
    EXPECT_LE(LiveCounts::lower_bound(bucket), value);
    const std::size_t next = LiveHistogram::bucket_of(value + value / 8 + 8);
    EXPECT_GT(next, bucket);
    EXPECT_GT(LiveCounts::lower_bound(next), value);
  }
}

TEST(LiveHistogram, QuantilesAreNear) {
  LiveHistogram histogram;
  for (Nanos value = 1; value <= 1000; ++value) {
    histogram.add(value * 1000);
  }
  LiveCounts counts;
  histogram.add_to(counts);
  EXPECT_EQ(counts.total(), 1000U);
  EXPECT_NEAR(static_cast<double>(counts.quantile(0.5)), 500e3, 500e3 / 8);
  EXPECT_NEAR(static_cast<double>(counts.quantile(0.99)), 990e3, 990e3 / 8);
  EXPECT_EQ(counts.since(counts).total(), 0U);
  EXPECT_EQ(LiveCounts().quantile(0.5), 0);
}

TEST(Metrics, BothFormatsDeclareWhatTheySample) {
  Progress progress;
  progress.connections = 7;
  progress.outcomes[static_cast<std::size_t>(Outcome::complete)] = 5;
  LiveHistogram histogram;
  histogram.add(200'000);
  histogram.add_to(progress.durations);
  const std::string open = metrics_text(progress, Plan(), MetricsFormat::openmetrics);
  EXPECT_THAT(open, testing::HasSubstr("# TYPE tlstrata_load_connections counter\n"));
  EXPECT_THAT(open, testing::HasSubstr("\ntlstrata_load_connections_total 7\n"));
  EXPECT_THAT(open, testing::HasSubstr("tlstrata_load_transactions_total{outcome=\"complete\"} 5\n"));
  EXPECT_THAT(open, testing::HasSubstr("_bucket{le=\"0.000131072\"} 0\n"));
  EXPECT_THAT(open, testing::HasSubstr("_bucket{le=\"0.000262144\"} 1\n"));
  EXPECT_THAT(open, testing::EndsWith("\n# EOF\n"));
  const std::string old = metrics_text(progress, Plan(), MetricsFormat::prometheus);
  EXPECT_THAT(old, testing::HasSubstr("# TYPE tlstrata_load_connections_total counter\n"));
  EXPECT_THAT(old, testing::Not(testing::HasSubstr("# EOF")));
}

}  // namespace
}  // namespace tlstrata::load
