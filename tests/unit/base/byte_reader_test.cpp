#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <vector>

namespace tlstrata {
namespace {

constexpr std::array<std::uint8_t, 16> sixteen{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                               0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};

std::span<const std::uint8_t> first(std::size_t count) {
  return std::span(sixteen).first(count);
}

std::span<const std::uint8_t> last(std::size_t count) {
  return std::span(sixteen).last(count);
}

TEST(ByteReader, ReadsIntegersInNetworkOrder) {
  ByteReader reader(sixteen);
  EXPECT_EQ(reader.u8(), 0x00);
  EXPECT_EQ(reader.u16(), 0x1122);
  EXPECT_EQ(reader.u24(), 0x334455U);
  EXPECT_EQ(reader.u32(), 0x66778899U);
  EXPECT_EQ(reader.remaining(), 6U);
  EXPECT_EQ(reader.rest().front(), 0xAA);
  EXPECT_TRUE(reader.finish("sixteen bytes"));
}

TEST(ByteReader, ReadsIntegersInLittleEndianOrder) {
  ByteReader reader(sixteen, 0, ByteOrder::little);
  EXPECT_EQ(reader.u8(), 0x00);
  EXPECT_EQ(reader.u16(), 0x2211);
  EXPECT_EQ(reader.u24(), 0x554433U);
  EXPECT_EQ(reader.u32(), 0x99887766U);
  reader.skip(6);
  EXPECT_TRUE(reader.finish("sixteen bytes"));
}

TEST(ByteReader, ReadsEightBytesInBothOrders) {
  ByteReader big(sixteen);
  EXPECT_EQ(big.u64(), 0x0011223344556677ULL);
  EXPECT_TRUE(big.finish_partial("first half"));
  ByteReader little(last(8), 8, ByteOrder::little);
  EXPECT_EQ(little.u64(), 0xFFEEDDCCBBAA9988ULL);
  EXPECT_TRUE(little.finish("second half"));
}

TEST(ByteReader, StaysFailedAfterAReadPastTheEnd) {
  ByteReader reader(first(3));
  EXPECT_EQ(reader.u32(), 0U) << "four bytes do not fit into three";
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0) << "the byte that is there is not given either: the structure is broken";
  EXPECT_TRUE(reader.take(0).empty());
  EXPECT_TRUE(reader.rest().empty());
  EXPECT_EQ(reader.remaining(), 0U);
  EXPECT_TRUE(reader.empty());
  const auto done = reader.finish("three bytes");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::truncated);
  EXPECT_STREQ(done.error().what, "three bytes");
  EXPECT_EQ(done.error().offset, 0U) << "nothing was taken before the failure";
}

TEST(ByteReader, FinishComplainsOfBytesLeftOver) {
  ByteReader reader(first(3), 100);
  (void)reader.u16();
  const auto done = reader.finish("two bytes");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::malformed);
  EXPECT_EQ(done.error().offset, 102U);
}

TEST(ByteReader, FinishPartialAllowsBytesLeftOver) {
  ByteReader reader(first(3));
  (void)reader.u16();
  EXPECT_TRUE(reader.finish_partial("two bytes and what follows"));
}

TEST(ByteReader, TakeGivesSpansIntoTheInput) {
  ByteReader reader(sixteen);
  reader.skip(4);
  const auto taken = reader.take(2);
  EXPECT_EQ(taken.data(), sixteen.data() + 4);
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_TRUE(reader.finish_partial("part"));
}

TEST(ByteReader, HugeCountsDoNotWrapAround) {
  ByteReader reader(sixteen);
  reader.skip(8);
  EXPECT_TRUE(reader.take(SIZE_MAX - 4).empty());
  EXPECT_FALSE(reader.ok());
  EXPECT_FALSE(reader.finish("huge"));
}

TEST(ByteReader, SubReadersAreBoundedAndKeepRunningOffsets) {
  const std::vector<std::uint8_t> bytes{2, 0xA1, 0xA2, 0, 3, 0xB1, 0xB2, 0xB3, 0, 0, 1, 0xC1, 0xD1};
  ByteReader reader(bytes, 1000);
  auto one = reader.sub8();
  EXPECT_EQ(one.offset(), 1001U);
  EXPECT_EQ(one.remaining(), 2U);
  EXPECT_EQ(one.u16(), 0xA1A2);
  EXPECT_EQ(one.u8(), 0) << "a sub-reader does not see what follows its vector";
  EXPECT_FALSE(one.finish("first vector"));
  EXPECT_TRUE(reader.ok()) << "a failed sub-reader does not fail its parent";
  auto second = reader.sub16();
  EXPECT_EQ(second.offset(), 1005U);
  EXPECT_EQ(second.rest().size(), 3U);
  EXPECT_TRUE(second.finish("second vector"));
  auto third = reader.sub24();
  EXPECT_EQ(third.u8(), 0xC1);
  EXPECT_TRUE(third.finish("third vector"));
  EXPECT_EQ(reader.u8(), 0xD1);
  EXPECT_EQ(reader.offset(), 1013U);
  EXPECT_TRUE(reader.finish("three vectors and a byte"));
}

TEST(ByteReader, SubReadersKeepTheByteOrder) {
  ByteReader reader(sixteen, 0, ByteOrder::little);
  auto inner = reader.sub(4);
  EXPECT_EQ(inner.u32(), 0x33221100U);
  EXPECT_TRUE(inner.finish("inner"));
  EXPECT_TRUE(reader.finish_partial("outer"));
}

TEST(ByteReader, AVectorLongerThanItsParentFailsBoth) {
  const std::vector<std::uint8_t> bytes{5, 1, 2, 3};
  ByteReader reader(bytes);
  auto inner = reader.sub8();
  EXPECT_FALSE(inner.ok());
  EXPECT_TRUE(inner.empty());
  EXPECT_FALSE(reader.ok());
  EXPECT_FALSE(inner.finish("vector"));
  EXPECT_FALSE(reader.finish("whole"));
}

TEST(ByteReader, FailNamesTheReasonAndTheOffset) {
  ByteReader reader(sixteen, 50);
  reader.skip(3);
  const Error error = reader.fail("a reason of the format's", ErrorCode::unsupported);
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_EQ(error.offset, 53U);
  EXPECT_STREQ(error.what, "a reason of the format's");
  const auto done = reader.finish("whole");
  ASSERT_FALSE(done);
  EXPECT_STREQ(done.error().what, "a reason of the format's") << "finish() repeats the first reason";
}

TEST(ByteReader, MovingHandsOnTheDutyToFinish) {
  ByteReader dying(sixteen);
  (void)dying.u8();
  ByteReader second(std::move(dying));
  EXPECT_EQ(second.u8(), 0x11);
  EXPECT_TRUE(second.finish_partial("moved"));  // and `dying` dies without complaint
}

static_assert(!std::is_copy_constructible_v<ByteReader>);

TEST(ByteReaderDeathTest, DyingWithoutFinishAbortsInDebugBuilds) {
  EXPECT_DEBUG_DEATH(
      {
        ByteReader reader(sixteen);
        (void)reader.u8();
      },
      "without finish");
}

TEST(ByteReaderDeathTest, DyingFailedIsNoCrime) {
  // After a failure there is nothing left to learn from finish().
  ByteReader reader(first(1));
  (void)reader.u32();
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace tlstrata
