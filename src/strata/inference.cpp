#include "strata/inference.h"

#include <algorithm>
#include <optional>
#include <span>

#include "tls/suites.h"

namespace tlstrata::strata {
namespace {

using Records = std::span<const SealedRecord>;

// Sizes of record bodies that hold HTTP/2's frames beside the streams; 0: not known.
struct Http2Sizes {
  std::uint32_t settings_ack = 0;  // an empty SETTINGS frame
  std::uint32_t window_update = 0;

  [[nodiscard]] bool is_control(const SealedRecord& record) const {
    return record.length == settings_ack || record.length == window_update;
  }
};

// Sizes of record bodies that tell what they hold, for a suite of TLS 1.3.
struct Sizes {
  std::uint32_t finished = 0;
  std::uint32_t end_of_early_data = 0;
  std::uint32_t alert = 0;
  std::uint32_t key_update = 0;
  Http2Sizes http2;
};

constexpr std::size_t settings_ack_bytes = 9;
constexpr std::size_t window_update_bytes = 13;

std::optional<Sizes> sizes_of(std::uint16_t cipher_suite) {
  const auto suite = tls::suite_parameters(cipher_suite);
  if (!suite || !suite->is_tls13) {
    return std::nullopt;
  }
  const auto sealed = [&suite](std::size_t plaintext) {
    return static_cast<std::uint32_t>(plaintext + 1 + suite->tag_size());
  };
  return Sizes{.finished = sealed(4 + suite->hash_size()),
               .end_of_early_data = sealed(4),
               .alert = sealed(2),
               .key_update = sealed(5),
               .http2 = {sealed(settings_ack_bytes), sealed(window_update_bytes)}};
}

// RFC 5246 section 6.2.3.3: AEAD suites but ChaCha20-Poly1305 (RFC 7905) send eight bytes of the nonce. What CBC makes of a
// size depends on its padding.
Http2Sizes tls12_http2_sizes(std::uint16_t cipher_suite) {
  const auto suite = tls::suite_parameters(cipher_suite);
  if (!suite) {
    return {};
  }
  const std::size_t overhead = suite->tag_size() + (suite->aead == ossl::AeadAlgorithm::chacha20_poly1305 ? 0 : 8);
  return {static_cast<std::uint32_t>(settings_ack_bytes + overhead),
          static_cast<std::uint32_t>(window_update_bytes + overhead)};
}

// The record that ends with the client's Finished: the first of a Finished's size (a client's certificate comes in records
// before it). Where none has it (padding, or a flight in one record), the first that answers the server.
std::optional<std::size_t> find_client_finished(const Facts& facts, const Sizes& sizes, bool& early_accepted) {
  const Records records = facts.sealed[0];
  std::optional<std::size_t> first_answer;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const bool after_early = i > 0 && records[i - 1].length == sizes.end_of_early_data && facts.offers_early_data;
    const bool answers = records[i].first.packet > facts.server_hello.packet;
    if (records[i].length == sizes.finished && (after_early || answers)) {
      early_accepted = after_early;
      return i;
    }
    if (answers && !first_answer) {
      first_answer = i;
    }
  }
  return facts.offers_early_data ? std::nullopt : first_answer;
}

// The server's last record before the client's Finished; the last of a Finished's size where there is one, since data may
// follow it at once.
std::optional<std::size_t> find_server_finished(Records records, const Sizes& sizes, Stamp client_finished) {
  std::optional<std::size_t> last;
  std::optional<std::size_t> exact;
  for (std::size_t i = 0; i < records.size() && records[i].complete.packet < client_finished.packet; ++i) {
    last = i;
    if (records[i].length == sizes.finished) {
      exact = i;
    }
  }
  return exact ? exact : last;
}

// How many of the server's records after its Finished hold session tickets. Servers send them once they have the client's
// Finished: two of a size (OpenSSL's habit) after a full handshake, one after a resumption.
std::size_t count_tickets(Records records, const Facts& facts, const Sizes& sizes, Stamp client_finished) {
  constexpr std::uint32_t smallest = 150;
  constexpr std::uint32_t largest = 700;
  constexpr std::uint32_t same = 16;
  const auto is_ticket_like = [&](const SealedRecord& record) {
    return record.length >= smallest && record.length <= largest && record.first.packet > client_finished.packet;
  };
  if (records.size() < 2 || !is_ticket_like(records[0])) {
    return 0;
  }
  const std::uint32_t difference =
      std::max(records[0].length, records[1].length) - std::min(records[0].length, records[1].length);
  if (is_ticket_like(records[1]) && difference <= same) {
    return 2;
  }
  return facts.connection.resumed && records[1].length != sizes.alert ? 1 : 0;
}

void set_exchange(Facts& facts, Stamp request, const SealedRecord* response) {
  Exchange& exchange = facts.exchanges.emplace_back();
  exchange.request = request;
  if (response != nullptr) {
    exchange.response = response->first;
  }
}

const SealedRecord* first_after(Records records, Stamp request, const Http2Sizes* http2) {
  const auto found = std::ranges::find_if(records, [&](const SealedRecord& record) {
    return record.first.packet > request.packet && (http2 == nullptr || !http2->is_control(record));
  });
  return found == records.end() ? nullptr : &*found;
}

// The client's first record is the preface, not the request.
void infer_http2_exchange(Facts& facts, const Http2Sizes& sizes, Records rest, Records server) {
  const auto request =
      std::ranges::find_if(rest.subspan(1), [&](const SealedRecord& record) { return !sizes.is_control(record); });
  if (request != rest.end()) {
    set_exchange(facts, request->first, first_after(server, request->first, &sizes));
  }
}

// `rest` and `server`: the records behind each side's Finished. `early`: the first record of accepted early data, or null.
void infer_exchange(Facts& facts, const Sizes& sizes, Records rest, Records server, const SealedRecord* early) {
  server = server.subspan(count_tickets(server, facts, sizes, facts.client_finished));
  if (!server.empty() && server.front().length == sizes.alert) {
    server = {};
  }
  if (early != nullptr) {
    set_exchange(facts, early->first, first_after(server, early->first, nullptr));
    return;
  }
  while (!rest.empty() && rest.front().length == sizes.key_update) {
    rest = rest.subspan(1);  // no request is so short
  }
  if (rest.empty() || rest.front().length == sizes.alert) {
    return;
  }
  // HTTP/2 shows itself by SETTINGS frames that are acknowledged.
  const auto is_ack = [&sizes](const SealedRecord& record) { return record.length == sizes.http2.settings_ack; };
  const bool is_http2 =
      facts.offers_http2 && (std::ranges::any_of(rest.first(std::min<std::size_t>(4, rest.size())), is_ack) ||
                             std::ranges::any_of(server.first(std::min<std::size_t>(4, server.size())), is_ack));
  if (!is_http2) {
    set_exchange(facts, rest.front().first, first_after(server, rest.front().first, nullptr));
    return;
  }
  infer_http2_exchange(facts, sizes.http2, rest, server);
}

bool infer_tls13(Facts& facts) {
  const auto sizes = sizes_of(facts.connection.cipher_suite);
  const Records client = facts.sealed[0];
  const Records server = facts.sealed[1];
  if (!sizes || client.empty() || server.empty()) {
    return false;
  }
  bool early = false;
  const auto client_finished = find_client_finished(facts, *sizes, early);
  if (!client_finished) {
    return false;
  }
  const SealedRecord& finished = client[*client_finished];
  if (finished.length == sizes->alert) {
    return false;  // the client gave up
  }
  const auto server_finished = find_server_finished(server, *sizes, finished.first);
  if (!server_finished) {
    return false;
  }
  Connection& connection = facts.connection;
  facts.client_finished = finished.complete;
  facts.until_finished = finished.counts;
  facts.server_finished = server[*server_finished].complete;
  connection.client_handshake_bytes = finished.end - facts.client_begin;
  connection.client_finish_bytes = finished.end - facts.client_hello_end;
  connection.server_handshake_bytes = server[*server_finished].end - facts.server_begin;
  connection.server_flight_bytes = server[*server_finished].end - facts.server_hello_begin;
  connection.early_data = early;
  facts.boundary = Boundary::inferred;
  infer_exchange(facts, *sizes, client.subspan(*client_finished + 1), server.subspan(*server_finished + 1),
                 early ? &client.front() : nullptr);
  return true;
}

// The handshake could be read, but not what followed it: a key log without application secrets.
bool infer_application_data(Facts& facts) {
  const auto sizes = sizes_of(facts.connection.cipher_suite);
  const Connection& connection = facts.connection;
  if (!sizes || !facts.server_finished.present()) {
    return false;
  }
  const auto behind = [](Records records, std::uint64_t offset) {
    return records.subspan(
        static_cast<std::size_t>(std::ranges::upper_bound(records, offset, {}, &SealedRecord::end) - records.begin()));
  };
  const Records client = behind(facts.sealed[0], facts.client_begin + connection.client_handshake_bytes.value_or(0));
  const Records server = behind(facts.sealed[1], facts.server_begin + connection.server_handshake_bytes.value_or(0));
  if (client.empty() || server.empty()) {
    return false;
  }
  facts.boundary = Boundary::inferred;
  infer_exchange(facts, *sizes, client, server, nullptr);
  return true;
}

// TLS 1.2 shows content types, and HTTP/2 in its ServerHello: the first application data of each side after the handshake are
// request and response.
bool infer_tls12(Facts& facts) {
  const Records client = facts.sealed[0];
  facts.boundary = Boundary::inferred;
  if (!client.empty() && facts.connection.alpn == "h2") {
    infer_http2_exchange(facts, tls12_http2_sizes(facts.connection.cipher_suite), client, facts.sealed[1]);
  } else if (!client.empty()) {
    set_exchange(facts, client.front().first, first_after(facts.sealed[1], client.front().first, nullptr));
  }
  return true;
}

}  // namespace

bool infer_boundaries(Facts& facts) {
  if (!facts.exchanges.empty() || facts.application_data || !facts.server_hello.present()) {
    return false;
  }
  if (facts.connection.tls_version >= 0x0304) {
    return facts.client_finished.present() ? infer_application_data(facts) : infer_tls13(facts);
  }
  return handshake_complete(facts) && infer_tls12(facts);
}

}  // namespace tlstrata::strata
