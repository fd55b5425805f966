// A Transaction as one line of text that holds every field, for comparing rows.
#pragma once

#include <optional>
#include <string>

#include "strata/transaction.h"
#include "tcp/address.h"

namespace tlstrata::strata::test {

template <typename T>
std::string text_of(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "-";
}

inline std::string more_text_of(const Connection& connection) {
  std::string text = " share bytes";
  for (const std::uint16_t bytes : connection.key_share_bytes) {
    text += ' ' + std::to_string(bytes);
  }
  text += " retry " + text_of(connection.retry_request_bytes) + ' ' + text_of(connection.second_client_hello_bytes);
  text += " finish " + text_of(connection.client_finish_bytes) + " certificates " + text_of(connection.certificates) +
          ' ' + text_of(connection.certificate_bytes) + " tickets " + text_of(connection.tickets) + " updates " +
          text_of(connection.key_updates) + " alert " + text_of(connection.alert);
  return text + (connection.client_certificate ? " client certificate" : "") + (connection.has_ech ? " ech" : "");
}

inline std::string text_of(const Connection& connection) {
  std::string text = tcp::to_string(connection.client) + '>' + tcp::to_string(connection.server) + ' ' +
                     std::to_string(connection.start_ns) + " v" + std::to_string(connection.tls_version) + " c" +
                     std::to_string(connection.cipher_suite) + " g" + text_of(connection.group) + " shares";
  for (const std::uint16_t share : connection.key_shares) {
    text += ' ' + std::to_string(share);
  }
  text += " groups";
  for (const std::uint16_t group : connection.offered_groups) {
    text += ' ' + std::to_string(group);
  }
  text += " sni '" + connection.server_name + "' alpn '" + connection.alpn + '\'';
  text += std::string(connection.hrr ? " hrr" : "") + (connection.resumed ? " resumed" : "") +
          (connection.early_data ? " early" : "");
  return text + " bytes " + text_of(connection.client_hello_bytes) + ' ' + text_of(connection.server_flight_bytes) +
         ' ' + text_of(connection.client_handshake_bytes) + ' ' + text_of(connection.server_handshake_bytes) +
         more_text_of(connection);
}

inline std::string text_of(const Transaction& row) {
  std::string text = std::to_string(row.connection.number) + '.' + std::to_string(row.request) + ' ' +
                     text_of(row.connection) + " layers";
  for (const auto& layer : row.layers) {
    text += ' ' + text_of(layer);
  }
  text += " parts";
  for (const auto& part : row.handshake_parts) {
    text += ' ' + text_of(part);
  }
  text += " total " + text_of(row.total_ns) + " last " + text_of(row.last_byte_ns) + " request " +
          text_of(row.request_ns) + " hello " + text_of(row.client_hello_complete_ns) + ' ';
  text += std::string(name(row.outcome)) + ' ' + std::string(name(row.boundary)) + (row.inverted ? " inverted" : "");
  text += ' ' + row.method + ' ' + text_of(row.status) + " traffic";
  for (const tcp::Traffic& traffic : row.connection.traffic) {
    text += ' ' + std::to_string(traffic.packets) + ' ' + std::to_string(traffic.payload_bytes) + ' ' +
            std::to_string(traffic.retransmitted_bytes);
  }
  return text;
}

}  // namespace tlstrata::strata::test
