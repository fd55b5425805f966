#include "analyze/worker.h"

#include <algorithm>

namespace tlstrata::analyze {

void Worker::feed(const capture::Packet& packet, Nanos latest_ns) {
  last_ns_ = std::max(last_ns_, latest_ns);
  last_packet_ = packet.number;
  last_file_ = packet.file;
  last_file_packet_ = packet.file_number != 0 ? packet.file_number : packet.number;
  connections_.feed(packet, latest_ns);
  drain();
}

void Worker::pass_others(tcp::Stamp last, Nanos latest_ns) {
  last_ns_ = std::max(last_ns_, latest_ns);
  last_packet_ = last.packet;
  connections_.pass_others(last, latest_ns);
}

void Worker::finish(std::optional<Nanos> end_ns) {
  if (end_ns && *end_ns > last_ns_) {
    last_ns_ = *end_ns;
    connections_.pass_time(*end_ns);
    drain();
  }
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
    open(event);
  }
  std::unique_ptr<Open>& open = open_[event.connection];
  if (event.kind != tcp::EventKind::closed) {
    open->tracker.feed(event);
    return;
  }
  close(*open, event);
  if (spare_.size() < most_spare) {
    spare_.push_back(std::move(open));
  }
  open.reset();
}

void Worker::open(const tcp::Event& event) {
  if (open_.size() <= event.connection) {
    open_.resize(event.connection + 1);
  }
  const tcp::Endpoints& endpoints = connections_.endpoints(event.connection);
  const std::uint64_t place = first_place_ + places_.size();
  std::unique_ptr<Open>& open = open_[event.connection];
  if (spare_.empty()) {
    open = std::make_unique<Open>(Open{place, strata::Tracker(*keys_, endpoints)});
  } else {
    open = std::move(spare_.back());
    spare_.pop_back();
    open->place = place;
    open->tracker.reset(endpoints);
  }
  places_.push_back({{{event.first.packet, last_ns_, last_file_, last_file_packet_}, {}}, false});
}

void Worker::close(Open& open, const tcp::Event& event) {
  open.tracker.set_traffic(connections_.traffic(event.connection, tcp::Side::a),
                           connections_.traffic(event.connection, tcp::Side::b));
  open.tracker.set_can_stall(connections_.sees_stalls(event.connection));
  open.tracker.set_capture_end(last_ns_);
  open.tracker.feed(event);
  Place& place = places_[open.place - first_place_];
  if (!spare_rows_.empty()) {
    place.connection.rows = std::move(spare_rows_.back());
    spare_rows_.pop_back();
  }
  while (true) {
    auto row = open.tracker.next();
    if (!row || !*row) {
      break;
    }
    place.connection.rows.push_back(std::move(**row));
  }
  place.over = true;
  if (order_ == Order::of_end) {
    ended_.push_back(std::move(place.connection));
  }
}

void Worker::take(std::vector<Ended>& ended) {
  std::ranges::move(ended_, std::back_inserter(ended));
  ended_.clear();
  while (!places_.empty() && places_.front().over) {
    if (order_ == Order::of_start) {
      ended.push_back(std::move(places_.front().connection));
    }
    places_.pop_front();
    ++first_place_;
  }
}

void Worker::recycle(std::vector<Ended>& ended) {
  for (Ended& connection : ended) {
    if (spare_rows_.size() < most_spare_rows && connection.rows.capacity() <= few_rows) {
      connection.rows.clear();
      spare_rows_.push_back(std::move(connection.rows));
    }
  }
  ended.clear();
}

std::uint64_t Worker::watermark() const {
  return places_.empty() ? last_packet_ + 1 : places_.front().connection.opened.packet;
}

}  // namespace tlstrata::analyze
