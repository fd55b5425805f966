// Several files read as one: the earliest of their next packets, each file in its own order, whatever the stamps.
#include "analyze/packet_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/analyze/captures.h"

namespace tlstrata::analyze::test {
namespace {

struct Given {
  std::uint32_t file = 0;
  std::uint64_t file_packet = 0;
  Nanos time_ns = 0;
  friend bool operator==(const Given&, const Given&) = default;
};

// By the definition: of all files' next packets the earliest, of the first file among equals.
std::vector<Given> merged(const std::vector<std::vector<Nanos>>& files) {
  std::vector<Given> all;
  std::vector<std::size_t> next(files.size(), 0);
  while (true) {
    std::optional<std::size_t> earliest;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (next[i] < files[i].size() && (!earliest || files[i][next[i]] < files[*earliest][next[*earliest]])) {
        earliest = i;
      }
    }
    if (!earliest) {
      return all;
    }
    const std::size_t place = next[*earliest]++;
    all.push_back({static_cast<std::uint32_t>(*earliest), place + 1, files[*earliest][place]});
  }
}

TEST(PacketSource, GivesTheEarliestOfTheFilesNextPackets) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const Scratch scratch;
    const std::size_t count = 2 + random() % 6;
    std::vector<std::vector<Nanos>> files(count);
    Input input;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<Frame> frames;
      // Few different stamps, so that many are the same; a ring buffer's files, files side by side, or out of order.
      Nanos now_ns = round % 3 == 0 ? static_cast<Nanos>(i) * 20'000 : 0;
      for (std::size_t packet = random() % 40; packet > 0; --packet) {
        now_ns += (round % 3 == 2 ? static_cast<Nanos>(random() % 5) - 2 : static_cast<Nanos>(random() % 2)) * 1'000;
        files[i].push_back(std::max<Nanos>(now_ns, 0));
        frames.push_back({Bytes(60, 1), capture::LinkType::ethernet, files[i].back()});
      }
      input.captures.push_back(scratch.write("file" + std::to_string(i) + ".pcap", frames));
    }
    auto source = PacketSource::open(input, nullptr);
    ASSERT_TRUE(source) << describe(source.error());
    std::vector<Given> given;
    std::uint64_t number = 0;
    while (const capture::Packet* const packet = source->next()) {
      EXPECT_EQ(packet->number, ++number);
      given.push_back({packet->file, packet->file_number, packet->time_ns});
    }
    EXPECT_EQ(given, merged(files)) << "round " << round;
    EXPECT_EQ(source->next(), nullptr) << "the end stays the end";
  }
}

}  // namespace
}  // namespace tlstrata::analyze::test
