// The pipeline behind the capture step, for one worker's share of the connections.
//
// In:        every packet of the input; connections of other workers are passed over.
// Out:       rows with the packet that opened their connection, unordered.
// Ownership: rows own what they hold. The KeyLog must outlive the worker.
// Threads:   one a worker.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/types.h"
#include "strata/tracker.h"
#include "tcp/connections.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Row {
  std::uint64_t opened_packet = 0;
  strata::Transaction transaction;
};

class Worker {
 public:
  Worker(const tls::KeyLog& keys, tcp::Share share) : keys_(&keys), connections_(share) {}

  void feed(const capture::Packet& packet);
  void finish();

  [[nodiscard]] const tcp::PacketCounts& counts() const { return connections_.counts(); }
  std::vector<Row>& rows() { return rows_; }

 private:
  struct Open {
    std::uint64_t opened_packet = 0;
    strata::Tracker tracker;
  };

  void drain();
  void take(const tcp::Event& event);

  const tls::KeyLog* keys_;
  tcp::Connections connections_;
  std::vector<std::unique_ptr<Open>> open_;  // by tcp::ConnectionId
  Nanos last_ns_ = 0;
  std::vector<Row> rows_;
};

}  // namespace tlstrata::analyze
