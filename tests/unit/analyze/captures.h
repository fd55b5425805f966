// Captures for tests of the whole pipeline: real ones from tests/golden/field, re-cut at will, and files to write them to.
//
// In:     "grp_X25519.pcap": packets and keys. Dialogue: what each side of a connection said, and when, without the
//         segments that carried it; edited by the test, it becomes packets again.
// Out:    frames, key logs, pcap files in a folder of the test's own.
// Errors: test failures.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyze/worker.h"
#include "capture/file_source.h"
#include "unit/strata/conversation.h"
#include "unit/strata/row_text.h"

namespace tlstrata::analyze::test {

using strata::test::Conversation;
using strata::test::text_of;
using tcp::test::Bytes;
using tcp::test::Frame;
using Rows = std::vector<strata::Transaction>;

inline std::string field_path(std::string_view name) {
  return std::string(TLSTRATA_SOURCE_DIR "/tests/golden/field/") + std::string(name);
}
inline std::string keys_path(std::string_view capture) {
  return field_path(capture.substr(0, capture.rfind('.'))) + ".keys";
}

inline std::vector<Frame> read_frames(const std::string& path) {
  std::vector<Frame> frames;
  auto source = capture::FileSource::open(path);
  if (!source) {
    ADD_FAILURE() << describe(source.error());
    return frames;
  }
  for (auto item = source->next(); item && *item; item = source->next()) {
    if (const auto* packet = std::get_if<capture::Packet>(&**item)) {
      frames.push_back(
          {{packet->data.begin(), packet->data.end()}, packet->link, packet->time_ns, packet->original_length});
    }
  }
  EXPECT_FALSE(frames.empty()) << path;
  return frames;
}

inline tls::KeyLog read_keys(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  tls::KeyLog keys;
  keys.feed(tcp::test::text_bytes(text));
  keys.finish();
  return keys;
}

// The rows of a capture by one Worker, numbered as analyze::Analysis does.
inline Rows rows_of(const std::vector<Frame>& frames, const tls::KeyLog& keys) {
  Worker worker(keys, {});
  std::uint64_t number = 0;
  for (const Frame& frame : frames) {
    worker.feed(frame.packet(++number));
  }
  worker.finish();
  EXPECT_EQ(worker.counts().sum(), frames.size()) << "a packet without a fate";
  std::vector<Ended> ended;
  worker.take(ended);
  Rows rows;
  std::uint64_t connection = 0;
  for (Ended& each : ended) {
    ++connection;
    for (strata::Transaction& row : each.rows) {
      row.connection.number = connection;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

inline std::vector<std::string> texts_of(const Rows& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const auto& row : rows) {
    texts.push_back(text_of(row));
  }
  return texts;
}

inline std::string name_of(const strata::Transaction& row) {
  return std::string(strata::name(row.outcome));
}

// One side's say.
struct Turn {
  bool from_client = false;
  Bytes bytes;
  Nanos time_ns = 0;
};

struct Dialogue {
  tcp::Endpoint client;
  tcp::Endpoint server;
  Nanos syn_ns = 0;
  Nanos syn_ack_ns = 0;
  std::vector<Turn> turns;
  bool closed = false;
  Nanos closed_ns = 0;

  // Neighbours of one side become one, at the first's time.
  Dialogue& coalesce() {
    std::vector<Turn> merged;
    for (Turn& turn : turns) {
      if (!merged.empty() && merged.back().from_client == turn.from_client) {
        merged.back().bytes.insert(merged.back().bytes.end(), turn.bytes.begin(), turn.bytes.end());
      } else {
        merged.push_back(std::move(turn));
      }
    }
    turns = std::move(merged);
    return *this;
  }
  // The turn becomes two; the second part and all that follows come `later`.
  Dialogue& cut(std::size_t turn, std::size_t at, Nanos later) {
    const Bytes whole = turns.at(turn).bytes;
    const auto middle = whole.begin() + static_cast<std::ptrdiff_t>(at);
    turns[turn].bytes.assign(whole.begin(), middle);
    turns.insert(turns.begin() + static_cast<std::ptrdiff_t>(turn) + 1,
                 Turn{turns[turn].from_client, Bytes(middle, whole.end()), turns[turn].time_ns});
    for (std::size_t i = turn + 1; i < turns.size(); ++i) {
      turns[i].time_ns += later;
    }
    closed_ns += later;
    return *this;
  }
  Dialogue& shift(Nanos by) {
    syn_ns += by;
    syn_ack_ns += by;
    closed_ns += by;
    for (Turn& turn : turns) {
      turn.time_ns += by;
    }
    return *this;
  }

  [[nodiscard]] std::vector<Frame> frames() const {
    Conversation talk;
    talk.client_end = client;
    talk.server_end = server;
    const auto at = [&talk](Nanos time_ns) { talk.now = time_ns - Conversation::step; };
    at(syn_ns);
    talk.syn();
    at(syn_ack_ns);
    talk.syn_ack();
    for (const Turn& turn : turns) {
      at(turn.time_ns);
      turn.from_client ? talk.client(turn.bytes) : talk.server(turn.bytes);
    }
    if (closed) {
      at(closed_ns);
      talk.fin(true);
      at(closed_ns);
      talk.fin(false);
    }
    return talk.frames();
  }
};

// The connections of a capture as what was said.
inline std::vector<Dialogue> dialogues_of(const std::vector<Frame>& frames) {
  tcp::Connections connections;
  std::map<tcp::ConnectionId, Dialogue> open;
  std::vector<Dialogue> all;
  const auto drain = [&] {
    for (auto next = connections.next(); next && *next; next = connections.next()) {
      const tcp::Event& event = **next;
      Dialogue& dialogue = open[event.connection];
      switch (event.kind) {
        case tcp::EventKind::opened:
          dialogue = {};
          dialogue.client = connections.endpoints(event.connection).side[0];
          dialogue.server = connections.endpoints(event.connection).side[1];
          break;
        case tcp::EventKind::syn:
          dialogue.syn_ns = event.first.time_ns;
          break;
        case tcp::EventKind::syn_ack:
          dialogue.syn_ack_ns = event.first.time_ns;
          break;
        case tcp::EventKind::data:
          dialogue.turns.push_back(
              {event.side == tcp::Side::a, {event.bytes.begin(), event.bytes.end()}, event.in_order.time_ns});
          break;
        case tcp::EventKind::fin:
        case tcp::EventKind::reset:
          dialogue.closed = true;
          dialogue.closed_ns = event.in_order.time_ns;
          break;
        case tcp::EventKind::again:
        case tcp::EventKind::stall:
          break;
        case tcp::EventKind::gap:
          ADD_FAILURE() << "a capture with holes is no dialogue";
          break;
        case tcp::EventKind::closed:
          all.push_back(std::move(dialogue));
          break;
      }
    }
  };
  std::uint64_t number = 0;
  for (const Frame& frame : frames) {
    connections.feed(frame.packet(++number));
    drain();
  }
  connections.finish();
  drain();
  std::ranges::sort(all, {}, &Dialogue::syn_ns);
  return all;
}

// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tlstrata-analyze-XXXXXX").string();
    const char* made = ::mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr);
    folder_ = pattern;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A pcap file of nanoseconds, little-endian. All frames have the first one's link type.
  std::string write(const std::string& name, const std::vector<Frame>& frames) const {
    const std::string path = (folder_ / name).string();
    std::ofstream file(path, std::ios::binary);
    const auto u32 = [&file](std::uint64_t value) {
      for (unsigned shift = 0; shift < 32; shift += 8) {
        file.put(static_cast<char>(static_cast<std::uint8_t>(value >> shift)));
      }
    };
    u32(0xA1B23C4D);
    u32(0x00040002);
    u32(0);
    u32(0);
    u32(262'144);
    u32(static_cast<std::uint16_t>(frames.empty() ? capture::LinkType::ethernet : frames.front().link));
    for (const Frame& frame : frames) {
      u32(static_cast<std::uint64_t>(frame.time_ns / nanos_per_second));
      u32(static_cast<std::uint64_t>(frame.time_ns % nanos_per_second));
      u32(frame.bytes.size());
      u32(std::max<std::size_t>(frame.original_length, frame.bytes.size()));
      for (const std::uint8_t byte : frame.bytes) {
        file.put(static_cast<char>(byte));
      }
    }
    file.close();
    EXPECT_TRUE(file.good()) << path;
    return path;
  }
  std::string write_text(const std::string& name, std::string_view text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace tlstrata::analyze::test
