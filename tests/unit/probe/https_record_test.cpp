#include "probe/https_record.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "probe/hello.h"
#include "probe/predict.h"

namespace tlstrata::probe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) {
    std::ranges::copy(part, std::back_inserter(all));
  }
  return all;
}

Bytes record(const Bytes& data, std::uint8_t type = 65) {
  return joined({{0xC0, 12, 0, type, 0, 1, 0, 0, 0, 60, static_cast<std::uint8_t>(data.size() >> 8U),
                  static_cast<std::uint8_t>(data.size() & 0xFFU)},
                 data});
}

Bytes response(const std::vector<Bytes>& records, std::uint8_t code = 0) {
  Bytes bytes{0,  7,   0x81, static_cast<std::uint8_t>(0x80U | code),
              0,  1,   0,    static_cast<std::uint8_t>(records.size()),
              0,  0,   0,    0,
              1,  'a', 0,    0,
              65, 0,   1};
  for (const Bytes& each : records) {
    std::ranges::copy(each, std::back_inserter(bytes));
  }
  return bytes;
}

const Bytes hint_of_two{0, 1, 0, 0, 9, 0, 4, 0x11, 0xEC, 0, 0x1D};

TEST(HttpsRecordTest, GroupsInTheRecordsOrder) {
  const auto hint = read_https_response(response({record(hint_of_two)}));
  ASSERT_TRUE(hint);
  EXPECT_TRUE(hint->has_record);
  EXPECT_THAT(hint->groups, ElementsAre(0x11EC, 0x001D));
}

TEST(HttpsRecordTest, TheBestOfSeveralDecidesAndOtherTypesAreSkipped) {
  const Bytes second{0, 2, 0, 0, 9, 0, 2, 0x02, 0x02};
  const Bytes address{192, 0, 2, 1};
  const auto hint = read_https_response(response({record(second), record(address, 1), record(hint_of_two)}));
  ASSERT_TRUE(hint);
  EXPECT_THAT(hint->groups, ElementsAre(0x11EC, 0x001D));
}

TEST(HttpsRecordTest, AliasesOtherTargetsAndUnknownDemandsSayNothing) {
  for (const Bytes& data : {Bytes{0, 0, 0, 0, 9, 0, 2, 2, 2}, Bytes{0, 1, 1, 'b', 0, 0, 9, 0, 2, 2, 2},
                            Bytes{0, 1, 0, 0, 0, 0, 2, 0x80, 1, 0, 9, 0, 2, 2, 2}}) {
    const auto hint = read_https_response(response({record(data)}));
    ASSERT_TRUE(hint);
    EXPECT_FALSE(hint->has_record);
    EXPECT_THAT(hint->groups, IsEmpty());
  }
}

TEST(HttpsRecordTest, BrokenRecordsSpoilTheWholeAnswer) {
  for (const Bytes& data : {
           Bytes{0, 1, 0, 0, 9, 0, 0},                          // an empty list
           Bytes{0, 1, 0, 0, 9, 0, 3, 1, 2, 3},                 // half a code point
           Bytes{0, 1, 0, 0, 9, 0, 4, 2, 2, 2, 2},              // a group twice
           Bytes{0, 1, 0, 0, 9, 0, 9, 1, 2},                    // longer than the record
           Bytes{0, 1, 0, 0, 9, 0, 2, 2, 2, 0, 1, 0, 0},        // keys out of order
           Bytes{0, 1, 0, 0, 9, 0, 2, 2, 2, 0, 9, 0, 2, 2, 2},  // a key twice
           Bytes{0, 1, 0xC0, 12},                               // a target that is compressed
           Bytes{0, 1, 0, 0},                                   // half a key
           Bytes{0},
       }) {
    EXPECT_FALSE(read_https_response(response({record(hint_of_two), record(data)})));
  }
  Bytes long_list{0, 1, 0, 0, 9, 0, 130};
  long_list.resize(7 + 130, 1);
  const auto oversized = read_https_response(response({record(long_list)}));
  ASSERT_FALSE(oversized);
  EXPECT_EQ(oversized.error().code, ErrorCode::limit);
}

TEST(HttpsRecordTest, ErrorsOfTheServerAndCutResponses) {
  EXPECT_EQ(read_https_response(response({}, 2)).error().code, ErrorCode::not_found);
  EXPECT_FALSE(read_https_response(response({}))->has_record);
  const Bytes whole = response({record(hint_of_two)});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_https_response(std::span(whole).first(size))) << size;
  }
}

TEST(PredictTest, TheServersFirstChoiceThatTheClientHas) {
  const Prediction hint{.kind = PredictionKind::no_common, .hinted = {0x0A0A, 0x0202, 0x001D}};
  const std::vector<std::uint16_t> own{0x11EC, 0x001D, 0x0202};
  const Prediction predicted = predicted_for(hint, own);
  EXPECT_EQ(predicted.kind, PredictionKind::predicted);
  EXPECT_EQ(predicted.group, 0x0202);
  const std::vector<std::uint16_t> others{0x11EC};
  EXPECT_EQ(predicted_for(hint, others).kind, PredictionKind::no_common);
  EXPECT_EQ(predicted_for(hint, others).group, 0);
}

TEST(PredictTest, NamesOfPorts) {
  EXPECT_EQ(https_name("example.org", 443), "example.org");
  EXPECT_EQ(https_name("example.org", 8443), "_8443._https.example.org");
}

}  // namespace
}  // namespace tlstrata::probe
