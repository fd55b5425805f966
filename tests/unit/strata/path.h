// A handshake over a path, as a capture anywhere on it shows it: one-way delays, the server's congestion window, losses, and
// a server that computes in mid-flight.
//
// In:     the path's figures.
// Out:    frames in the order of the capture.
// Source: RFC 5681 (slow start, fast retransmit), RFC 1122 section 4.2.3.2 (an ACK for every second segment).
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "unit/strata/transactions.h"

namespace tlstrata::strata::test {

struct PathFigures {
  Nanos rtt_ns = 60'000'000;
  double place = 0;           // of the capture: 0 at the client, 1 at the server
  std::uint32_t window = 10;  // segments
  std::size_t chain_bytes = 3000;
  std::uint16_t mss = 1460;      // of the SYNs; less 12 of timestamps
  std::size_t super_packet = 1;  // segments to a packet, as a server's own capture has them before its card cuts them
  std::optional<std::size_t> pause_before = std::nullopt;  // a segment of the flight that the server makes later
  Nanos pause_ns = 0;
  std::set<std::size_t> lost =
      {};  // segments whose first copies are lost, behind the capture point where it is the server's
  Nanos serialisation_ns = 12'000;  // a segment takes so long on the path's slowest link
  std::size_t acknowledge_every = 2;
  bool only_server = false;  // the capture has one direction
  bool hello_after_retransmitted_syn = false;
  Nanos listener_ns = 0;  // the SYN waits so long for the server
};

class PathSimulation {
 public:
  PathSimulation(Handshake& peer, const PathFigures& figures) : figures_(figures), peer_(&peer) {
    const Bytes certificate =
        message(tls::HandshakeType::certificate,
                Writer().u8(0).vector24(Writer().vector24(pattern(figures.chain_bytes)).vector16({}).bytes()).bytes());
    Bytes messages = tls::test::encrypted_extensions_message("http/1.1", false) << certificate << peer.finished();
    const Bytes hello = peer.client_hello();
    flight_ = peer.server_hello_record() << change_cipher_spec();
    for (std::size_t at = 0; at < messages.size(); at += 16'000) {
      const auto part = std::span(messages).subspan(at, std::min<std::size_t>(16'000, messages.size() - at));
      flight_ = flight_ << peer.server.seal(tls::ContentType::handshake, Bytes(part.begin(), part.end()));
    }
    peer.server_application();
    segment_ = figures.mss - 12U;
    count_ = (flight_.size() + segment_ - 1) / segment_;
    begin(hello);
  }

  [[nodiscard]] std::size_t flight_bytes() const { return flight_.size(); }
  [[nodiscard]] std::size_t flight_segments() const { return count_; }
  [[nodiscard]] std::vector<Frame> frames() const {
    std::vector<Frame> all;
    for (const auto& [time_ns, fields] : captured_) {
      all.push_back(tcp::test::frame_of(fields, time_ns));
    }
    return all;
  }

 private:
  [[nodiscard]] Nanos one_way() const { return figures_.rtt_ns / 2; }
  void at(Nanos time_ns, std::function<void(Nanos)> what) { agenda_.emplace(time_ns, std::move(what)); }

  // `left`: when the sender let it go.
  void capture(bool from_client, Nanos left, TcpFields fields) {
    const double share = from_client ? figures_.place : 1 - figures_.place;
    fields.source = endpoint(from_client ? "10.0.0.1:50000" : "10.0.0.2:443");
    fields.destination = endpoint(from_client ? "10.0.0.2:443" : "10.0.0.1:50000");
    if (!(from_client && figures_.only_server)) {
      captured_.emplace(capture_start + left + static_cast<Nanos>(share * static_cast<double>(one_way())), fields);
    }
  }
  [[nodiscard]] TcpFields client_segment(const Bytes& payload) {
    TcpFields fields;
    fields.sequence = 1001 + client_sent_;
    fields.acknowledgment = 5001 + static_cast<std::uint32_t>(received_bytes());
    fields.payload = payload;
    client_sent_ += static_cast<std::uint32_t>(payload.size());
    return fields;
  }
  [[nodiscard]] std::size_t received_bytes() const { return std::min(received_ * segment_, flight_.size()); }

  void begin(const Bytes& hello) {
    TcpFields syn;
    syn.sequence = 1000;
    syn.flags = tcp::flag::syn;
    syn.options = tcp::test::syn_options(figures_.mss);
    capture(true, 0, syn);
    Nanos now = 0;
    if (figures_.hello_after_retransmitted_syn) {
      now = nanos_per_second;
      capture(true, now, syn);
    }
    now += one_way() + 10'000 + figures_.listener_ns;
    TcpFields syn_ack = syn;
    syn_ack.sequence = 5000;
    syn_ack.acknowledgment = 1001;
    syn_ack.flags = tcp::flag::syn | tcp::flag::ack;
    capture(false, now, syn_ack);
    now += one_way() + 10'000;
    capture(true, now, client_segment({}));
    now += 50'000;
    capture(true, now, client_segment(hello));
    ready_.assign(count_, now + one_way() + 100'000);
    if (figures_.pause_before) {
      for (std::size_t i = *figures_.pause_before; i < count_; ++i) {
        ready_[i] += figures_.pause_ns;
      }
      at(ready_.back(), [this](Nanos then) { send(then); });
    }
    window_ = figures_.window;
    at(ready_.front(), [this](Nanos then) { send(then); });
    while (!agenda_.empty()) {
      const auto [time_ns, what] = *agenda_.begin();
      agenda_.erase(agenda_.begin());
      what(time_ns);
    }
  }

  void send(Nanos now) {
    while (next_ < count_ && next_ - acknowledged_ < window_ && ready_[next_] <= now) {
      std::size_t together = 1;
      while (together < figures_.super_packet && next_ + together < count_ &&
             next_ + together - acknowledged_ < window_ && ready_[next_ + together] <= now) {
        ++together;
      }
      transmit(next_, together, now, figures_.lost.contains(next_));
      next_ += together;
    }
  }

  void transmit(std::size_t first, std::size_t together, Nanos now, bool is_lost) {
    link_free_ = std::max(link_free_, now) + static_cast<Nanos>(together) * figures_.serialisation_ns;
    TcpFields fields;
    fields.sequence = 5001 + static_cast<std::uint32_t>(first * segment_);
    fields.acknowledgment = 1001 + client_sent_;
    const auto bytes =
        std::span(flight_).subspan(first * segment_, std::min(together * segment_, flight_.size() - first * segment_));
    fields.payload = Bytes(bytes.begin(), bytes.end());
    // The slow link is the server's own: behind it they are apart, at the server they are not.
    const Nanos left = figures_.place < 1 ? link_free_ : now + static_cast<Nanos>(first - acknowledged_) * 1000;
    if (!is_lost || figures_.place == 1) {
      capture(false, left, fields);
    }
    if (!is_lost) {
      for (std::size_t i = 0; i < together; ++i) {
        at(link_free_ + one_way() + static_cast<Nanos>(i),
           [this, segment = first + i](Nanos then) { receive(segment, then); });
      }
    }
  }

  void receive(std::size_t segment, Nanos now) {
    if (arrived_.size() == count_) {
      return;
    }
    arrived_.insert(segment);
    const std::size_t before = received_;
    while (arrived_.contains(received_)) {
      ++received_;
    }
    const bool in_order = received_ == before + 1 && segment == before;
    unacknowledged_ += 1;
    if (!in_order || unacknowledged_ >= figures_.acknowledge_every || received_ == count_) {
      unacknowledged_ = 0;
      if (received_ == count_) {
        finish(now + 200'000);
        return;
      }
      capture(true, now + 5'000, client_segment({}));
      at(now + 5'000 + one_way(), [this, upto = received_](Nanos then) { acknowledge(upto, then); });
    }
  }

  void acknowledge(std::size_t upto, Nanos now) {
    if (upto > acknowledged_) {
      window_ += static_cast<std::uint32_t>(upto - acknowledged_);
      acknowledged_ = upto;
      duplicates_ = 0;
    } else if (++duplicates_ == 3) {
      transmit(acknowledged_, 1, now, false);
    }
    send(now);
  }

  void finish(Nanos now) {
    capture(true, now, client_segment(peer_->client_finished()));
    capture(true, now + 20'000, client_segment(peer_->client.data(get)));
    TcpFields response;
    response.sequence = 5001 + static_cast<std::uint32_t>(flight_.size());
    response.acknowledgment = 1001 + client_sent_;
    response.payload = peer_->server.data(ok);
    capture(false, now + 20'000 + one_way() + 300'000, response);
  }

  PathFigures figures_;
  Handshake* peer_;
  Bytes flight_;
  std::size_t segment_ = 0;
  std::size_t count_ = 0;
  std::multimap<Nanos, TcpFields> captured_;
  std::multimap<Nanos, std::function<void(Nanos)>> agenda_;
  std::vector<Nanos> ready_;  // when the server has made each segment
  std::size_t next_ = 0;
  std::size_t acknowledged_ = 0;
  std::uint32_t window_ = 0;
  std::uint32_t duplicates_ = 0;
  Nanos link_free_ = 0;
  std::set<std::size_t> arrived_;
  std::size_t received_ = 0;  // in order
  std::size_t unacknowledged_ = 0;
  std::uint32_t client_sent_ = 0;
};

inline Transaction row_over(const PathFigures& figures, bool with_keys = true) {
  Handshake peer;
  const PathSimulation simulation(peer, figures);
  return only_row(simulation.frames(), with_keys ? key_log_of(peer.key_log()) : key_log_of(""));
}

}  // namespace tlstrata::strata::test
