// Which 4-tuples cross from one capture to another, and in which windows they are read.
#include "analyze/flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace tlstrata::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Nanos second = nanos_per_second;

struct Ends {
  std::uint32_t syn = 0;  // 0: begins otherwise
  bool open = false;
};

FlowSpan span(std::uint64_t flow, Nanos first_s, Nanos last_s, Ends ends) {
  return {.flow = flow,
          .first_ns = first_s * second,
          .last_ns = last_s * second,
          .first_syn = ends.syn,
          .newest_syn = ends.syn,
          .begins_with_syn = ends.syn != 0,
          .has_syn = ends.syn != 0,
          .is_open = ends.open};
}

bool crosses(const FlowSpan& one, const FlowSpan& other) {
  const std::vector<std::vector<FlowSpan>> captures{{one}, {other}};
  return !join_captures(captures).windows.empty();
}

TEST(Flows, CrossWhereTheAnalysisWouldRememberThem) {
  EXPECT_TRUE(crosses(span(1, 0, 9, {.syn = 5, .open = true}), span(1, 10, 20, {})));
  EXPECT_FALSE(crosses(span(1, 0, 9, {.syn = 5, .open = true}), span(2, 10, 20, {}))) << "another 4-tuple";
  EXPECT_FALSE(crosses(span(1, 0, 9, {.syn = 5}), span(1, 10, 20, {.syn = 6}))) << "the port was used again";
  EXPECT_TRUE(crosses(span(1, 0, 9, {.syn = 5}), span(1, 10, 20, {.syn = 5}))) << "a late copy of the SYN";
  EXPECT_TRUE(crosses(span(1, 0, 9, {.syn = 5}), span(1, 10, 10, {}))) << "the last acknowledgment";
  EXPECT_FALSE(crosses(span(1, 0, 9, {.syn = 5}), span(1, 200, 200, {}))) << "forgotten by then";
  EXPECT_TRUE(crosses(span(1, 0, 9, {.syn = 5, .open = true}), span(1, 3600, 3601, {})));
  EXPECT_FALSE(crosses(span(1, 0, 9, {.syn = 5, .open = true}), span(1, 3700, 3701, {}))) << "ended as idle";
  EXPECT_TRUE(crosses(span(1, 0, 9, {.syn = 5}), span(1, 5, 20, {.syn = 6}))) << "at the same time";
}

TEST(Flows, OneThatEndsAndComesAgainCrossesWhereItDoes) {
  const std::vector<std::vector<FlowSpan>> captures{{span(1, 0, 9, {.syn = 5, .open = true})},
                                                    {span(1, 10, 12, {})},
                                                    {span(1, 22, 23, {.syn = 6})},
                                                    {span(1, 32, 33, {.syn = 7, .open = true})},
                                                    {span(1, 40, 41, {})}};
  const Joined joined = join_captures(captures);
  ASSERT_THAT(joined.windows, SizeIs(2));
  EXPECT_THAT(joined.windows[0].files, ElementsAre(0, 1));
  EXPECT_THAT(joined.windows[1].files, ElementsAre(3, 4));
  EXPECT_THAT(joined.crossing[2], IsEmpty());
}

TEST(Flows, ACaptureIsInFewWindowsHoweverLongConnectionsLast) {
  constexpr std::uint32_t files = 64;
  std::vector<std::vector<FlowSpan>> captures(files);
  std::uint64_t flow = 0;
  for (std::uint32_t first = 0; first < files; ++first) {
    for (std::uint32_t last = first; last < files; ++last) {
      ++flow;
      for (std::uint32_t file = first; file <= last; ++file) {
        captures[file].push_back(
            span(flow, file * 10, file * 10 + 9, {.syn = file == first ? 1U : 0U, .open = file != last}));
      }
    }
  }
  const Joined joined = join_captures(captures);
  std::map<std::uint32_t, int> windows_of;
  std::map<std::uint64_t, std::size_t> seen;
  std::set<std::uint64_t> whole;
  for (const Window& window : joined.windows) {
    std::set<std::uint64_t> here;
    for (std::size_t i = 0; i < window.files.size(); ++i) {
      ++windows_of[window.files[i]];
      here.insert(window.flows[i].begin(), window.flows[i].end());
      for (const std::uint64_t each : window.flows[i]) {
        ++seen[each];
      }
    }
    for (const std::uint64_t each : here) {
      EXPECT_TRUE(whole.insert(each).second) << "it is in two windows";
    }
  }
  EXPECT_EQ(whole.size(), files * (files - 1) / 2) << "all that cross, and no other";
  for (const auto& [file, windows] : windows_of) {
    EXPECT_LE(windows, 2 * 6) << "two of each power of two up to 64";
    EXPECT_EQ(joined.crossing[file].size(), captures[file].size() - 1);
  }
}

}  // namespace
}  // namespace tlstrata::analyze
