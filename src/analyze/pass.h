// One worker and where its packets come from, driven in turns: a reader of its own, or what a dealer gives it.
//
// In:        packets.
// Out:       connections that are over, from the worker; its counts of packets.
// Ownership: owns the worker. Reader, dealer and the worker's KeyLog must outlive it.
// Errors:    none.
// Threads:   one at a time an object.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "analyze/dealer.h"
#include "analyze/reader.h"
#include "analyze/worker.h"

namespace tlstrata::analyze {

class Pass {
 public:
  // `end_ns`: see Input.
  Pass(Reader& reader, Worker worker, std::optional<Nanos> end_ns)
      : reader_(&reader), worker_(std::move(worker)), end_ns_(end_ns) {}
  // The dealer's worker of that number.
  Pass(Dealer& dealer, std::uint32_t number, Worker worker, std::optional<Nanos> end_ns)
      : dealer_(&dealer), number_(number), worker_(std::move(worker)), end_ns_(end_ns) {}

  // Goes on by at most so many packets, or by one hand. False: the input is at its end, and so is every connection;
  // or the dealer was stopped.
  bool advance(std::size_t packets);

  [[nodiscard]] Worker& worker() { return worker_; }
  [[nodiscard]] const Worker& worker() const { return worker_; }

 private:
  bool advance_by_hand();

  Reader* reader_ = nullptr;  // null: there is a dealer
  Dealer* dealer_ = nullptr;
  std::uint32_t number_ = 0;
  Hand hand_;
  Worker worker_;
  std::optional<Nanos> end_ns_;
};

}  // namespace tlstrata::analyze
