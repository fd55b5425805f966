// layer: tcp
// Segments of a few connections in any order: packets balance; each stream is told without a hole, an overlap or a step
// back; connections open, then close, once; and workers that share them say together what one says alone.
#include <map>
#include <string>
#include <tuple>

#include "choices.h"
#include "tcp/connections.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;
using tcp::Event;
using tcp::EventKind;

struct Frame {
  Bytes bytes;
  std::uint32_t original_length = 0;
  Nanos time_ns = 0;
};

void put(Bytes& bytes, std::uint64_t value, int count) {
  for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::uint8_t>(value >> static_cast<unsigned>(shift)));
  }
}

// Raw IPv4 with a TCP segment of one of four ports, either way.
Frame frame_of(Choices& choices, Nanos& now) {
  const std::uint8_t who = choices.u8();
  const std::uint8_t flags = choices.u8();
  const auto sequence = static_cast<std::int16_t>(choices.u16());
  const std::uint16_t acknowledgment = choices.u16();
  const std::uint8_t length = choices.u8();
  const std::uint8_t cut = choices.u8();
  const bool from_client = (who & 1U) != 0;
  const auto client_port = static_cast<std::uint16_t>(50'000 + ((who >> 1U) & 3U));
  // A generation's numbers lie near a base of its own, one of them near the wrap-around.
  const std::uint32_t base = ((who >> 3U) & 3U) * 0x3FFFFFFFU + 0x3FFFFFF0U;
  now += (who >> 5U) == 7   ? 40 * nanos_per_second
         : (who >> 5U) == 6 ? -4 * nanos_per_second
                            : (who >> 5U) * nanos_per_millisecond;

  Frame frame;
  Bytes& bytes = frame.bytes;
  put(bytes, 0x4500, 2);
  put(bytes, std::uint64_t{40} + length, 2);
  put(bytes, 0, 4);
  put(bytes, 0x4006, 2);
  put(bytes, 0, 2);
  put(bytes, from_client ? 0x0A000001 : 0x0A000002, 4);
  put(bytes, from_client ? 0x0A000002 : 0x0A000001, 4);
  put(bytes, from_client ? client_port : 443, 2);
  put(bytes, from_client ? 443 : client_port, 2);
  put(bytes, base + static_cast<std::uint32_t>(std::int32_t{sequence}), 4);
  put(bytes, std::uint64_t{base} + acknowledgment, 4);
  put(bytes, 0x50, 1);
  put(bytes, flags, 1);
  put(bytes, 0, 6);
  for (unsigned i = 0; i < length; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(sequence + static_cast<int>(i)));
  }
  frame.original_length = static_cast<std::uint32_t>(bytes.size());
  if ((cut & 0x80U) != 0) {
    bytes.resize(bytes.size() - (cut & 0x7FU) % bytes.size());
  }
  frame.time_ns = now;
  return frame;
}

// What has been told of a connection.
struct Told {
  bool open = false;
  std::uint32_t generation = 0;
  std::string name;
  std::uint64_t next[2] = {};
  std::uint64_t in_order[2] = {};
  bool fin[2] = {};
};

std::string name_of(const tcp::Endpoints& endpoints) {
  std::string name;
  for (const tcp::Endpoint& end : endpoints.side) {
    name += std::to_string(end.port) + '.' + std::to_string(end.address[3]) + ' ';
  }
  return name + std::to_string(endpoints.generation);
}

// Event lines by connection; the balance is checked on the way.
using Story = std::map<std::string, std::vector<std::string>>;

void check(const Event& event, Told& told) {
  require(event.kind == EventKind::opened || told.open, "nothing is told of a connection that is not open");
  const std::size_t side = tcp::index(event.side);
  switch (event.kind) {
    case EventKind::opened:
      require(!told.open, "a connection opens once");
      break;
    case EventKind::data:
    case EventKind::gap: {
      const std::uint64_t length = event.kind == EventKind::data ? event.bytes.size() : event.length;
      require(length > 0, "no empty pieces");
      require(event.offset == told.next[side], "a stream is told without a hole or an overlap");
      require(!told.fin[side], "nothing comes behind a FIN");
      require(event.first.packet <= event.in_order.packet, "bytes are in order no earlier than they came");
      require(event.in_order.packet >= told.in_order[side], "what is in order stays in order");
      require((event.kind == EventKind::gap) == (event.gap != tcp::GapReason::none), "a gap has a reason");
      told.next[side] += length;
      told.in_order[side] = event.in_order.packet;
      break;
    }
    case EventKind::fin:
      require(!told.fin[side], "one FIN a side");
      told.fin[side] = true;
      break;
    case EventKind::closed:
      require(event.close != tcp::CloseReason::none, "a close has a reason");
      break;
    default:
      break;
  }
  told.open = event.kind != EventKind::closed;
}

enum class Sees { all, dealt };  // which packets a worker is fed

tcp::PacketCounts run(const std::vector<Frame>& frames, tcp::Share share, tcp::Limits limits, Story& story,
                      Sees sees = Sees::all) {
  tcp::Connections connections(share, limits);
  tcp::Deal deal(share.workers);
  std::map<tcp::ConnectionId, Told> open;
  std::uint64_t number = 0;
  std::uint64_t fed = 0;
  const auto drain = [&] {
    while (true) {
      const auto next = connections.next();
      require(next.has_value(), "no errors");
      if (!*next) {
        break;
      }
      const Event& event = **next;
      if (event.kind == EventKind::opened) {
        require(!open[event.connection].open, "an id is free before it is used again");
        open[event.connection] = Told{};
        open[event.connection].name = name_of(connections.endpoints(event.connection));
      }
      Told& told = open[event.connection];
      check(event, told);
      story[told.name].push_back(
          std::to_string(static_cast<int>(event.kind)) + ' ' + std::to_string(tcp::index(event.side)) + ' ' +
          std::to_string(event.offset) + ' ' + std::to_string(event.length) + ' ' + std::to_string(event.first.packet) +
          ' ' + std::to_string(event.in_order.packet) + std::string(event.bytes.begin(), event.bytes.end()));
    }
    require(connections.counts().sum() == fed, "packets in = packets by fate");
  };
  for (const Frame& frame : frames) {
    capture::Packet packet;
    const Bytes gone = frame.bytes;
    packet.data = gone;
    packet.original_length = frame.original_length;
    packet.link = capture::LinkType::raw;
    packet.time_ns = frame.time_ns;
    packet.number = ++number;
    const std::uint32_t worker = deal.worker_of(packet);
    if (sees == Sees::dealt && worker != share.worker && worker != tcp::Deal::everyone) {
      continue;
    }
    ++fed;
    if (sees == Sees::dealt) {
      connections.feed(packet, deal.latest_ns());
    } else {
      connections.feed(packet);
    }
    drain();
  }
  if (sees == Sees::dealt && !frames.empty()) {
    connections.pass_others({frames.back().time_ns, number}, deal.latest_ns());
  }
  connections.finish();
  drain();
  for (const auto& [id, told] : open) {
    require(!told.open, "everything is closed at the end");
  }
  return connections.counts();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(View(data, size));
  std::vector<Frame> frames;
  Nanos now = 0;
  while (!choices.empty() && frames.size() < 400) {
    frames.push_back(frame_of(choices, now));
  }
  Story alone;
  const tcp::PacketCounts counts = run(frames, {}, {}, alone);
  for (const Sees sees : {Sees::all, Sees::dealt}) {
    Story together;
    std::uint64_t tcp_packets = 0;
    std::uint64_t stray = 0;
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
      const tcp::PacketCounts part = run(frames, {worker, 3}, {}, together, sees);
      tcp_packets += part.tcp;
      stray += part.late + part.no_connection;
      require(part.not_ip == counts.not_ip && part.not_tcp == counts.not_tcp && part.fragments == counts.fragments &&
                  part.fragments_dropped == counts.fragments_dropped && part.malformed == counts.malformed &&
                  part.cut_headers == counts.cut_headers,
              "what is no connection's is counted the same by each");
    }
    require(together == alone, "shares together are the whole");
    require(tcp_packets == counts.tcp && stray == counts.late + counts.no_connection,
            "shares count together as the whole");
  }
  tcp::Limits tight;
  tight.held_bytes = 500;
  tight.half_open_idle_ns = nanos_per_second;
  tight.idle_ns = 30 * nanos_per_second;
  Story under_pressure;
  require(run(frames, {}, tight, under_pressure).sum() == frames.size(), "packets balance under tight limits too");
  return 0;
}
