#include "analyze/grouping.h"

#include <algorithm>
#include <array>

#include "base/iana.h"
#include "tcp/address.h"

namespace tlstrata::analyze {
namespace {

using strata::Transaction;

// The host alone: every connection has a port of its own.
std::string client_host(const Transaction& row) {
  const std::string endpoint = tcp::to_string(row.connection.client);
  return endpoint.substr(0, endpoint.rfind(':'));
}

std::string key_shares(const Transaction& row) {
  std::string joined;
  for (const std::uint16_t group : row.connection.key_shares) {
    joined += (joined.empty() ? "" : "+") + group_name(group);
  }
  return joined.empty() ? "no key share" : joined;
}

std::string version(const Transaction& row) {
  switch (row.connection.tls_version) {
    case 0:
      return "no TLS version";
    case 0x0303:
      return "TLS 1.2";
    case 0x0304:
      return "TLS 1.3";
    default:
      return code_point_text(row.connection.tls_version);
  }
}

struct Named {
  std::string_view name;
  Key key;
};

constexpr std::array keys_by_name{
    Named{"group",
          [](const Transaction& row) { return row.connection.group ? group_name(*row.connection.group) : "no group"; }},
    Named{"key_shares", key_shares},
    Named{"cipher",
          [](const Transaction& row) {
            return row.connection.cipher_suite != 0 ? cipher_suite_name(row.connection.cipher_suite)
                                                    : std::string("no cipher");
          }},
    Named{"tls_version", version},
    Named{"server", [](const Transaction& row) { return tcp::to_string(row.connection.server); }},
    Named{"client", client_host},
    Named{"sni",
          [](const Transaction& row) {
            return row.connection.server_name.empty() ? std::string("no SNI") : row.connection.server_name;
          }},
    Named{"alpn",
          [](const Transaction& row) {
            return row.connection.alpn.empty() ? std::string("no ALPN") : row.connection.alpn;
          }},
    Named{"hrr", [](const Transaction& row) { return std::string(row.connection.hrr ? "retry" : "no retry"); }},
    Named{"resumed",
          [](const Transaction& row) { return std::string(row.connection.resumed ? "resumed" : "full handshake"); }},
    Named{"early_data",
          [](const Transaction& row) { return std::string(row.connection.early_data ? "0-RTT" : "1-RTT"); }},
    Named{"boundary", [](const Transaction& row) { return std::string(strata::name(row.boundary)); }},
    Named{"outcome", [](const Transaction& row) { return std::string(strata::name(row.outcome)); }},
    Named{"method", [](const Transaction& row) { return row.method.empty() ? std::string("no method") : row.method; }},
    Named{"status",
          [](const Transaction& row) { return row.status ? std::to_string(*row.status) : std::string("no status"); }},
};

}  // namespace

Checked<std::vector<Key>> parse_keys(std::string_view list) {
  std::vector<Key> keys;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    const auto found = std::ranges::find(keys_by_name, name, &Named::name);
    if (found == keys_by_name.end()) {
      std::string known;
      for (const Named& named : keys_by_name) {
        known.append(known.empty() ? "" : ", ").append(named.name);
      }
      return std::unexpected(
          Complaint{"no such key to group by", std::string(name), "one of " + known, ExitCode::usage});
    }
    keys.push_back(found->key);
    if (comma == std::string_view::npos) {
      return keys;
    }
    list.remove_prefix(comma + 1);
  }
}

std::string label(const Transaction& row, const std::vector<Key>& keys) {
  std::string joined;
  for (const Key key : keys) {
    joined += (joined.empty() ? "" : ", ") + key(row);
  }
  return joined;
}

}  // namespace tlstrata::analyze
