#include "analyze/worker.h"

#include <algorithm>

namespace tlstrata::analyze {

void Worker::feed(const capture::Packet& packet) {
  last_ns_ = std::max(last_ns_, packet.time_ns);
  connections_.feed(packet);
  drain();
}

void Worker::finish() {
  connections_.finish();
  drain();
}

void Worker::drain() {
  while (true) {
    const auto event = connections_.next();
    if (!event || !*event) {
      return;
    }
    take(**event);
  }
}

void Worker::take(const tcp::Event& event) {
  if (event.kind == tcp::EventKind::opened) {
    if (open_.size() <= event.connection) {
      open_.resize(event.connection + 1);
    }
    open_[event.connection] = std::make_unique<Open>(
        Open{event.first.packet, strata::Tracker(*keys_, connections_.endpoints(event.connection))});
  }
  Open& open = *open_[event.connection];
  if (event.kind != tcp::EventKind::closed) {
    open.tracker.feed(event);
    return;
  }
  open.tracker.set_traffic(connections_.traffic(event.connection, tcp::Side::a),
                           connections_.traffic(event.connection, tcp::Side::b));
  open.tracker.set_capture_end(last_ns_);
  open.tracker.feed(event);
  while (true) {
    auto row = open.tracker.next();
    if (!row || !*row) {
      break;
    }
    rows_.push_back({open.opened_packet, std::move(**row)});
  }
  open_[event.connection].reset();
}

}  // namespace tlstrata::analyze
