#include <algorithm>
#include <utility>

#include "strata/facts.h"

namespace tlstrata::strata {
namespace {

// Silent for so long at the end of the capture: the peer stayed silent. Less: the capture ended before it could speak. The
// first retransmission of a SYN comes after a second (RFC 6298), and no handshake message waits longer on a working path.
constexpr Nanos silence_ns = nanos_per_second;

// Sets an interval; one that would be negative is absent and flagged.
class Intervals {
 public:
  explicit Intervals(Transaction& row) : row_(row) {}

  void set(std::optional<Nanos>& target, Stamp from, Stamp to) {
    if (!from.present() || !to.present()) {
      return;
    }
    if (to.time_ns < from.time_ns) {
      row_.inverted = true;
    } else {
      target = to.time_ns - from.time_ns;
    }
  }

 private:
  Transaction& row_;
};

void set_handshake_layers(const Facts& facts, Transaction& row) {
  Intervals intervals(row);
  const auto layer = [&row](Layer which) -> std::optional<Nanos>& {
    return row.layers[static_cast<std::size_t>(which)];
  };
  const auto part = [&row](HandshakePart which) -> std::optional<Nanos>& {
    return row.handshake_parts[static_cast<std::size_t>(which)];
  };
  intervals.set(layer(Layer::tcp_handshake), facts.syn, facts.syn_ack);
  intervals.set(layer(Layer::tcp_to_tls), facts.syn_ack, facts.client_hello);  // Fast Open's hello precedes: absent
  intervals.set(layer(Layer::tls_handshake), facts.client_hello, facts.client_finished);
  if (facts.client_hello.present() && facts.client_hello_complete.packet != facts.client_hello.packet) {
    intervals.set(row.client_hello_complete_ns, facts.client_hello, facts.client_hello_complete);
  }
  const Stamp last_hello = facts.connection.hrr ? facts.second_client_hello_complete : facts.client_hello_complete;
  intervals.set(part(HandshakePart::hello_send), facts.client_hello, facts.client_hello_complete);
  if (facts.connection.hrr) {
    intervals.set(part(HandshakePart::retry), facts.client_hello_complete, facts.second_client_hello_complete);
  }
  intervals.set(part(HandshakePart::server_wait), last_hello, facts.server_hello);
  // TLS 1.2's full handshake ends with the server's Finished: the split is TLS 1.3's.
  if (facts.connection.tls_version >= 0x0304) {
    intervals.set(part(HandshakePart::server_flight), facts.server_hello, facts.server_finished);
    intervals.set(part(HandshakePart::client_finish), facts.server_finished, facts.client_finished);
  }
}

// The boundaries that the row's outcome `complete` needs are all there.
bool has_boundaries(const Facts& facts, const Exchange* exchange) {
  return facts.client_hello.present() && facts.client_finished.present() && exchange != nullptr &&
         exchange->response.present();
}

// What the connection's end means for whoever still waited.
bool capture_ended_first(const Facts& facts) {
  return facts.close == tcp::CloseReason::capture_ended &&
         facts.capture_end_ns - facts.last_progress.time_ns < silence_ns;
}

bool looks_complete_without_keys(const Facts& facts) {
  return facts.server_hello.present() && facts.opaque_client_data && facts.opaque_server_data;
}

// The first of the list in transaction.h that applies.
Outcome judge_outcome(const Facts& facts, const Exchange* exchange) {
  const bool bounded = has_boundaries(facts, exchange);
  if (facts.unsupported || (facts.not_http && exchange == nullptr)) {
    return Outcome::unsupported;
  }
  if (!bounded && facts.missing_bytes) {
    return Outcome::gap;
  }
  if (!bounded && (facts.cut_bytes || facts.unread_end)) {
    return Outcome::truncated;
  }
  const bool had_syn = facts.syn.present();
  const bool answered = facts.syn_ack.present() || facts.any_data;
  if (had_syn && !answered) {
    const Nanos waited_ns = facts.capture_end_ns - facts.syn.time_ns;
    if (facts.reset.present() && !facts.reset_by_client) {
      return Outcome::refused;
    }
    const bool ended_first = facts.close == tcp::CloseReason::capture_ended && waited_ns < silence_ns;
    return ended_first ? Outcome::truncated : Outcome::tcp_timeout;
  }
  const bool mid_connection =
      !had_syn && !facts.client_hello.present() && !facts.server_hello.present() && !facts.not_tls;
  if (mid_connection && (facts.opaque_client_data || facts.opaque_server_data)) {
    return Outcome::no_syn;  // runs, as far as one sees, but began before the capture
  }
  const bool open_at_end = !bounded && !facts.reset.present() && capture_ended_first(facts);
  if (open_at_end && !facts.not_tls && !facts.fatal_alert && !looks_complete_without_keys(facts)) {
    return Outcome::truncated;
  }
  if (facts.not_tls && !facts.server_hello.present()) {
    return Outcome::no_tls;
  }
  if (facts.fatal_alert) {
    return Outcome::tls_alert;
  }
  const bool answered_request = exchange != nullptr && exchange->response.present();
  // Where nothing could be read or inferred, both may have had their say before the reset.
  const bool may_be_complete = looks_complete_without_keys(facts) && facts.boundary != Boundary::inferred;
  if (facts.reset.present() && !answered_request && !may_be_complete) {
    return Outcome::reset;
  }
  if (!facts.client_finished.present() && !looks_complete_without_keys(facts)) {
    return Outcome::handshake_incomplete;
  }
  if (!facts.client_finished.present()) {
    return Outcome::undecryptable;
  }
  if (exchange == nullptr) {
    const bool hidden = looks_complete_without_keys(facts) && facts.boundary != Boundary::inferred;
    return hidden ? Outcome::undecryptable : Outcome::no_request;
  }
  if (!answered_request) {
    return Outcome::no_response;
  }
  return had_syn ? Outcome::complete : Outcome::no_syn;
}

void fill_first_row(const Facts& facts, const Exchange* exchange, Transaction& row) {
  set_handshake_layers(facts, row);
  if (exchange != nullptr) {
    Intervals intervals(row);
    intervals.set(row.layers[static_cast<std::size_t>(Layer::tls_to_app)], facts.client_finished, exchange->request);
    intervals.set(row.layers[static_cast<std::size_t>(Layer::app_response)], exchange->request, exchange->response);
    intervals.set(row.total_ns, facts.syn, exchange->response);
    intervals.set(row.last_byte_ns, facts.syn, exchange->response_end);
  }
}

void fill_later_row(const Exchange& exchange, Transaction& row) {
  Intervals intervals(row);
  intervals.set(row.layers[static_cast<std::size_t>(Layer::app_response)], exchange.request, exchange.response);
  intervals.set(row.total_ns, exchange.request, exchange.response);
  intervals.set(row.last_byte_ns, exchange.request, exchange.response_end);
}

}  // namespace

void Facts::renew() {
  Facts fresh;
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    sealed[i].clear();
    fresh.sealed[i] = std::move(sealed[i]);
  }
  course.renew();
  fresh.course = std::move(course);
  exchanges.clear();
  fresh.exchanges = std::move(exchanges);
  *this = std::move(fresh);
}

bool handshake_complete(const Facts& facts) {
  const bool is_tls12 = facts.connection.tls_version != 0 && facts.connection.tls_version <= 0x0303;
  return facts.client_finished.present() && (!is_tls12 || facts.server_finished.present());
}

void judge(Facts&& facts, std::vector<Transaction>& rows) {
  const std::size_t count = std::max<std::size_t>(facts.exchanges.size(), 1);
  const std::size_t before = rows.size();
  facts.connection.flights = flights_of(facts);
  rows.resize(before + count);
  for (std::size_t i = 0; i < count; ++i) {
    Transaction& row = rows[before + i];
    Exchange* const exchange = facts.exchanges.empty() ? nullptr : &facts.exchanges[i];
    row.boundary = facts.boundary;
    if (i == 0) {
      fill_first_row(facts, exchange, row);
    } else {
      fill_later_row(*exchange, row);
    }
    row.outcome = judge_outcome(facts, exchange);
    row.sent_again = sent_again_by_layer(facts, i);
    if (exchange != nullptr) {
      row.request = static_cast<std::uint32_t>(i + 1);
      row.method = std::move(exchange->method);
      row.status = exchange->status;
      if (exchange->request.present()) {
        row.request_ns = exchange->request.time_ns;
      }
    }
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    rows[before + i].connection = facts.connection;
  }
  rows.back().connection = std::move(facts.connection);
}

std::vector<Transaction> judge(Facts&& facts) {
  std::vector<Transaction> rows;
  judge(std::move(facts), rows);
  return rows;
}

}  // namespace tlstrata::strata
