#include "base/units.h"

#include <gtest/gtest.h>

namespace tlstrata {
namespace {

TEST(ParseDuration, TakesEachUnit) {
  EXPECT_EQ(parse_duration("7ns"), 7);
  EXPECT_EQ(parse_duration("100us"), 100'000);
  EXPECT_EQ(parse_duration("5ms"), 5'000'000);
  EXPECT_EQ(parse_duration("10s"), 10'000'000'000);
  EXPECT_EQ(parse_duration("5m"), 300'000'000'000);
  EXPECT_EQ(parse_duration("2h"), 7'200'000'000'000);
  EXPECT_EQ(parse_duration("1.5ms"), 1'500'000);
  EXPECT_EQ(parse_duration("0s"), 0);
}

TEST(ParseDuration, RefusesWhatIsNone) {
  for (const char* text :
       {"", "5", "ms", "5 ms", "-5ms", "+5ms", "5msx", "5d", "1e3s", "nan s", "infs", "5ms ", "0x5s"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::malformed) << text;
  }
  const auto parsed = parse_duration("9000000000s");
  ASSERT_FALSE(parsed) << "beyond what nanoseconds in 64 bits hold";
  EXPECT_EQ(parsed.error().code, ErrorCode::limit);
}

TEST(ParseSize, TakesEachUnit) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("512"), 512U);
  EXPECT_EQ(parse_size("512B"), 512U);
  EXPECT_EQ(parse_size("4KiB"), 4096U);
  EXPECT_EQ(parse_size("4KB"), 4000U);
  EXPECT_EQ(parse_size("1MB"), 1'000'000U);
  EXPECT_EQ(parse_size("1MiB"), 1'048'576U);
  EXPECT_EQ(parse_size("2GB"), 2'000'000'000U);
  EXPECT_EQ(parse_size("2GiB"), 2'147'483'648U);
  EXPECT_EQ(parse_size("0.5KiB"), 512U);
}

TEST(ParseSize, RefusesWhatIsNone) {
  for (const char* text : {"", "KiB", "-1", "4kib", "4K", "1.5B", "0.3KB0", "99999999999GiB", "4 KiB"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ParseRate, IsPerSecondAndPositive) {
  EXPECT_EQ(parse_rate("100"), 100.0);
  EXPECT_EQ(parse_rate("2.5k"), 2500.0);
  EXPECT_EQ(parse_rate("100/s"), 100.0);
  EXPECT_EQ(parse_rate("1M"), 1e6);
  for (const char* text : {"", "0", "-1", "k", "100/m", "nan", "inf"}) {
    EXPECT_FALSE(parse_rate(text)) << text;
  }
}

TEST(FormatDuration, GivesThreeSignificantDigits) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(1'000), "1.00 us");
  EXPECT_EQ(format_duration(312'400), "312 us");
  EXPECT_EQ(format_duration(1'724'000), "1.72 ms");
  EXPECT_EQ(format_duration(16'500'000), "16.5 ms");
  EXPECT_EQ(format_duration(2'000'000'000), "2.00 s");
  EXPECT_EQ(format_duration(-1'724'000), "-1.72 ms");
}

TEST(FormatDuration, RoundsIntoTheNextUnitInsteadOfAThousand) {
  EXPECT_EQ(format_duration(999'400), "999 us");
  EXPECT_EQ(format_duration(999'600), "1.00 ms");
  EXPECT_EQ(format_duration(999'600'000), "1.00 s");
  EXPECT_EQ(format_duration(9'996'000), "10.0 ms");
  EXPECT_EQ(format_duration(99'960'000), "100 ms");
}

TEST(FormatSize, PrefersWholeBinaryMultiples) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1216), "1216 B");
  EXPECT_EQ(format_size(4096), "4 KiB");
  EXPECT_EQ(format_size(40'960), "40 KiB");
  EXPECT_EQ(format_size(1'048'576), "1 MiB");
  EXPECT_EQ(format_size(12'345), "12.3 KB");
  EXPECT_EQ(format_size(1'234'567), "1.2 MB");
}

TEST(Units, ParsedSizesFormatBack) {
  for (const char* text : {"4 KiB", "40 KiB", "1 MiB", "9 B"}) {
    std::string compact = text;
    compact.erase(compact.find(' '), 1);
    const auto parsed = parse_size(compact);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(format_size(*parsed), text);
  }
}

}  // namespace
}  // namespace tlstrata
