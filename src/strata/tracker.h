// One connection's life: TCP events in, transactions out.
//
// In:        every tcp::Event of one connection, in order: feed(). After `closed`, next() yields the rows.
// Out:       Transactions, at least one a connection (design: exactly one outcome each).
// Ownership: nothing of an event is kept beyond feed(); the KeyLog must outlive the tracker.
// Errors:    none: what goes wrong with a connection is its outcome.
// Threads:   one at a time an object.
// Source:    docs/measurement.md (layers and outcomes).
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "http/decoder.h"
#include "strata/facts.h"
#include "tls/session.h"

namespace tlstrata::strata {

class Tracker {
 public:
  Tracker(const tls::KeyLog& keys, const tcp::Endpoints& endpoints);
  // For another connection: as newly made, but with the memory and the ciphers' contexts of before. Rows that were not
  // taken are gone.
  void reset(const tcp::Endpoints& endpoints);

  void feed(const tcp::Event& event);
  // At the end of the connection: the segments each side sent, and the stamp of the input's last packet so far.
  void set_traffic(const tcp::Traffic& a, const tcp::Traffic& b);
  // The capture shows what a stall is told by.
  void set_can_stall(bool can_stall) { facts_.can_stall = can_stall; }
  void set_capture_end(Nanos time_ns) { facts_.capture_end_ns = time_ns; }
  Result<std::optional<Transaction>> next();

 private:
  [[nodiscard]] tls::Role role_of(tcp::Side side) const;
  [[nodiscard]] std::size_t role_index(tcp::Side side) const { return tls::index(role_of(side)); }
  void orient(tls::Role role, tcp::Side side);
  void guess_orientation(const tcp::Event& event);
  void pump();
  void take(const tls::Item& item);
  void take_client_hello(const tls::Item& item);
  void take_server_hello(const tls::Item& item);
  void take_message(const tls::Item& item);
  void take_opaque(const tls::Item& item);
  void take_alert(const tls::Item& item);
  void take_certificate(const tls::Item& item);
  void set_counts();
  void take_finished(tls::Role role, Stamp complete, std::uint64_t record_end, const PayloadCounts& counts);
  void take_gap(tcp::GapReason reason);
  void take(http::Event& event);
  void drain_http();
  void close(tcp::CloseReason reason);
  Exchange* find(std::uint64_t id);

  Facts facts_;
  tcp::Endpoints endpoints_;
  std::optional<tcp::Side> client_;  // which end is the client, once known
  tls::Session session_;
  http::Decoder http_;
  std::array<bool, 2> change_cipher_spec_{};  // by role
  std::array<bool, 2> begun_{};               // a record was seen, by role
  bool saw_certificate_ = false;
  bool closed_cleanly_ = false;
  std::unordered_map<std::uint64_t, std::size_t> exchange_by_id_;  // once they are many
  std::size_t exchanges_indexed_ = 0;
  std::vector<Transaction> rows_;
  std::size_t rows_taken_ = 0;
};

}  // namespace tlstrata::strata
