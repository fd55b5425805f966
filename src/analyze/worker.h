// The pipeline behind the capture step, for one worker's share of the connections.
//
// In:        the packets of the worker's connections, in the input's order; those of other workers are passed over.
// Out:       take(): connections that are over with their rows, in the order in which they began (one that is still open
//            then keeps back those that began after it) or in which they ended.
// Ownership: rows own what they hold. The KeyLog must outlive the worker.
// Threads:   one a worker.
// Memory:    follows the connections that are open, and those that wait for an older one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "capture/types.h"
#include "strata/tracker.h"
#include "tcp/connections.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

// Where among an input's packets a connection began. Inputs that share no file have their connections in the order of these,
// as if they were read together: packets are merged by the latest stamp that their file had so far, then by file, then in the
// file's order.
struct Opening {
  std::uint64_t packet = 0;       // number of its first packet: an input's connections are ordered by it
  Nanos latest_ns = 0;            // latest stamp of the input up to that packet
  std::uint32_t file = 0;         // that packet's, among the input's
  std::uint64_t file_packet = 0;  // its number in that file
};

// A connection that is over.
struct Ended {
  Opening opened;
  std::vector<strata::Transaction> rows;
};

enum class Order : std::uint8_t { of_start, of_end };

class Worker {
 public:
  Worker(const tls::KeyLog& keys, tcp::Share share, Order order = Order::of_start)
      : keys_(&keys), connections_(share), order_(order) {}

  void feed(const capture::Packet& packet) { feed(packet, packet.time_ns); }
  // `latest_ns`: the latest stamp so far, that of packets of other workers too.
  void feed(const capture::Packet& packet, Nanos latest_ns);
  // Packets of other workers went by, up to this one.
  void pass_others(tcp::Stamp last, Nanos latest_ns);
  // `end_ns`: the capture goes on until then, without a packet of these connections.
  void finish(std::optional<Nanos> end_ns = std::nullopt);

  // What is due, behind what `ended` holds already.
  void take(std::vector<Ended>& ended);
  // Memory of connections that were given and are used up: it serves the next ones.
  void recycle(std::vector<Ended>& ended);
  // No connection that take() has yet to give began before this packet.
  [[nodiscard]] std::uint64_t watermark() const;

  [[nodiscard]] const tcp::PacketCounts& counts() const { return connections_.counts(); }

 private:
  struct Place {
    Ended connection;
    bool over = false;
  };
  struct Open {
    std::uint64_t place = 0;  // as counted from the first connection of all
    strata::Tracker tracker;
  };
  static constexpr std::size_t most_spare = 64;
  static constexpr std::size_t most_spare_rows = 4096;
  static constexpr std::size_t few_rows = 4;  // memory for more is not worth keeping for connections that need less

  void drain();
  void take(const tcp::Event& event);
  void open(const tcp::Event& event);
  void close(Open& open, const tcp::Event& event);

  const tls::KeyLog* keys_;
  tcp::Connections connections_;
  Order order_;
  std::vector<std::unique_ptr<Open>> open_;   // by tcp::ConnectionId
  std::vector<std::unique_ptr<Open>> spare_;  // of connections that are over: their memory serves the next ones
  std::vector<std::vector<strata::Transaction>> spare_rows_;  // empty ones, with memory for few_rows at most
  std::deque<Place> places_;                                  // by first packet
  std::uint64_t first_place_ = 0;                             // of places_.front()
  std::vector<Ended> ended_;                                  // in order of end, where that is asked for
  std::uint64_t last_packet_ = 0;
  std::uint32_t last_file_ = 0;
  std::uint64_t last_file_packet_ = 0;
  Nanos last_ns_ = 0;
};

}  // namespace tlstrata::analyze
