// layer: analyze
// A whole capture file to rows: packets balance; no interval is negative; five layers sum to the total; what is complete has
// its boundaries; workers that share the connections say together what one says alone.
#include <algorithm>
#include <string>
#include <tuple>
#include <variant>

#include "analyze/worker.h"
#include "capture/file_parser.h"
#include "choices.h"
#include "tcp/deal.h"

namespace {

using namespace tlstrata;
using namespace tlstrata::fuzz;
using strata::Outcome;
using strata::Transaction;

struct Capture {
  struct Packet {
    capture::Packet packet;
    Bytes bytes;
  };
  std::vector<Packet> packets;
  tls::KeyLog keys;
};

Capture read(View bytes) {
  Capture capture;
  capture::FileParser parser;
  parser.feed(bytes);
  for (auto item = parser.next(); item && *item; item = parser.next()) {
    if (const auto* packet = std::get_if<capture::Packet>(&**item)) {
      capture.packets.push_back({*packet, exact(packet->data)});
    } else {
      capture.keys.feed(std::get<capture::Secrets>(**item).data);
      capture.keys.finish();
    }
  }
  return capture;
}

std::string text(const std::optional<Nanos>& value) {
  return value ? std::to_string(*value) + ' ' : "- ";
}

std::string describe(const Transaction& row) {
  std::string line = std::to_string(row.connection.start_ns) + ' ' + std::to_string(row.connection.client.port) + ' ' +
                     std::to_string(row.connection.server.port) + ' ';
  for (const auto& layer : row.layers) {
    line += text(layer);
  }
  for (const auto& part : row.handshake_parts) {
    line += text(part);
  }
  line += text(row.total_ns) + text(row.last_byte_ns) + text(row.request_ns) + std::string(strata::name(row.outcome)) +
          row.method + row.connection.server_name + row.connection.alpn;
  return line;
}

void check(const Transaction& row) {
  Nanos sum = 0;
  for (const auto& layer : row.layers) {
    require(layer.value_or(0) >= 0, "no layer is negative");
    sum += layer.value_or(0);
  }
  for (const auto& part : row.handshake_parts) {
    require(part.value_or(0) >= 0, "no part of the handshake is negative");
  }
  require(row.total_ns.value_or(0) >= 0 && row.last_byte_ns.value_or(0) >= 0, "no total is negative");
  if (row.has_all_layers()) {
    require(row.total_ns == sum, "five layers sum to the total");
  }
  require(row.outcome != Outcome::not_started && row.outcome != Outcome::cancelled, "a capture knows no such outcome");
  if (row.outcome == Outcome::complete) {
    require(row.total_ns || row.inverted, "what is complete has a total");
  }
}

using Key = std::tuple<std::uint64_t, std::uint32_t, std::string>;  // first packet, request, the row

// What a worker says; one of several is fed as a Dealer feeds it.
std::vector<Key> run(const Capture& capture, tcp::Share share) {
  analyze::Worker worker(capture.keys, share);
  tcp::Deal deal(share.workers);
  std::uint64_t fed = 0;
  for (const Capture::Packet& each : capture.packets) {
    capture::Packet packet = each.packet;
    const Bytes gone = each.bytes;
    packet.data = gone;
    const std::uint32_t whose = deal.worker_of(packet);
    if (share.workers == 1) {
      ++fed;
      worker.feed(packet);
    } else if (whose == share.worker || whose == tcp::Deal::everyone) {
      ++fed;
      worker.feed(packet, deal.latest_ns());
    } else {
      worker.pass_others({packet.time_ns, packet.number}, deal.latest_ns());
    }
  }
  worker.finish();
  require(worker.counts().sum() == fed, "packets in = packets by fate");
  std::vector<analyze::Ended> ended;
  worker.take(ended);
  std::vector<Key> keys;
  for (const analyze::Ended& connection : ended) {
    require(keys.empty() || std::get<0>(keys.back()) < connection.opened.packet, "connections come in order of start");
    for (const Transaction& row : connection.rows) {
      check(row);
      keys.emplace_back(connection.opened.packet, row.request, describe(row));
    }
  }
  return keys;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Capture capture = read(View(data, size));
  if (capture.packets.size() > 2000) {
    return 0;
  }
  const auto alone = run(capture, {});
  std::vector<Key> together;
  for (std::uint32_t worker = 0; worker < 2; ++worker) {
    const auto part = run(capture, {worker, 2});
    together.insert(together.end(), part.begin(), part.end());
  }
  std::ranges::sort(together);
  require(together == alone, "shares together are the whole");
  return 0;
}
