// The transactions of report.html: columns of html_data.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>

#include "base/iana.h"
#include "report/html_data.h"
#include "report/packed.h"
#include "report/transactions_csv.h"
#include "stats/random.h"
#include "tcp/address.h"

namespace tlstrata::report {
namespace {

constexpr std::uint64_t choice_stream = std::uint64_t{1} << 51U;

std::vector<std::size_t> choose(const Results& results, std::size_t most) {
  std::vector<std::size_t> rows(results.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (rows.size() <= most) {
    return rows;
  }
  const auto complete = std::ranges::stable_partition(
      rows, [&](std::size_t row) { return results.rows[row].outcome != strata::Outcome::complete; });
  stats::Random random(results.manifest.seed, choice_stream);
  for (std::size_t i = rows.size() - complete.size(); i < most; ++i) {
    std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
  }
  rows.resize(most);
  std::ranges::sort(rows);
  return rows;
}

// All columns, by the names that web/src/rows.js knows.
class Columns {
 public:
  void add(const strata::Transaction& row, Nanos origin_ns);
  [[nodiscard]] Json packed() const;
  [[nodiscard]] Json names() const;

 private:
  void add_times(const strata::Transaction& row);
  void add_connection(const strata::Connection& connection);

  PackedColumn cell_, block_, connection_, request_, start_, total_, last_byte_, outcome_, boundary_, flags_;
  std::array<PackedColumn, strata::layer_count> layers_;
  PackedColumn client_, client_port_, server_, tls_version_, cipher_, group_, key_shares_, alpn_;
  std::array<PackedColumn, 4> bytes_;
  PackedColumn method_, status_;
  NameList cells_, addresses_, words_;
  Nanos last_start_ns_ = 0;
  std::int64_t last_number_ = 0;
};

void Columns::add(const strata::Transaction& row, Nanos origin_ns) {
  const strata::Connection& connection = row.connection;
  cell_.add(cells_.number_of(row.cell));
  block_.add_or_absent(row.block);
  const auto number = static_cast<std::int64_t>(connection.number);
  connection_.add_signed(number - last_number_);
  last_number_ = number;
  request_.add(row.request);
  const Nanos start_ns = connection.start_ns - origin_ns;
  start_.add_signed(start_ns - last_start_ns_);
  last_start_ns_ = start_ns;
  add_times(row);
  outcome_.add(static_cast<std::uint64_t>(row.outcome));
  boundary_.add(static_cast<std::uint64_t>(row.boundary));
  flags_.add((connection.hrr ? 1U : 0U) | (connection.resumed ? 2U : 0U) | (connection.early_data ? 4U : 0U) |
             (row.inverted ? 8U : 0U));
  add_connection(connection);
  method_.add(words_.number_of(row.method));
  status_.add_or_absent(row.status);
}

// The total is left out where the layers say it.
void Columns::add_times(const strata::Transaction& row) {
  Nanos sum_ns = 0;
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    layers_[layer].add_or_absent(row.layers[layer]);
    sum_ns += row.layers[layer].value_or(0);
  }
  if (row.total_ns && *row.total_ns == sum_ns) {
    total_.add(1);
  } else {
    total_.add(row.total_ns ? static_cast<std::uint64_t>(*row.total_ns) + 2 : 0);
  }
  last_byte_.add_signed_or_absent(row.last_byte_ns ? std::optional(*row.last_byte_ns - row.total_ns.value_or(0))
                                                   : std::nullopt);
}

void Columns::add_connection(const strata::Connection& connection) {
  tcp::Endpoint address = connection.client;
  address.port = 0;
  client_.add(addresses_.number_of(tcp::to_string(address)));
  client_port_.add(connection.client.port);
  server_.add(addresses_.number_of(tcp::to_string(connection.server)));
  tls_version_.add(words_.number_of(tls_version_name(connection.tls_version)));
  cipher_.add(words_.number_of(connection.cipher_suite != 0 ? cipher_suite_name(connection.cipher_suite) : ""));
  group_.add(words_.number_of(connection.group ? group_name(*connection.group) : ""));
  std::string shares;
  for (const std::uint16_t share : connection.key_shares) {
    shares += (shares.empty() ? "" : "+") + group_name(share);
  }
  key_shares_.add(words_.number_of(shares));
  alpn_.add(words_.number_of(connection.alpn));
  bytes_[0].add_or_absent(connection.client_hello_bytes);
  bytes_[1].add_or_absent(connection.server_flight_bytes);
  bytes_[2].add_or_absent(connection.client_handshake_bytes);
  bytes_[3].add_or_absent(connection.server_handshake_bytes);
}

Json Columns::packed() const {
  Json object;
  object["cell"] = cell_.text();
  object["block"] = block_.text();
  object["connection"] = connection_.text();
  object["request"] = request_.text();
  object["start_ns"] = start_.text();
  for (std::size_t layer = 0; layer < strata::layer_count; ++layer) {
    object[std::string(strata::layer_names[layer]) + "_ns"] = layers_[layer].text();
  }
  object["total_ns"] = total_.text();
  object["last_byte_ns"] = last_byte_.text();
  object["outcome"] = outcome_.text();
  object["boundary"] = boundary_.text();
  object["flags"] = flags_.text();
  object["client"] = client_.text();
  object["client_port"] = client_port_.text();
  object["server"] = server_.text();
  object["tls_version"] = tls_version_.text();
  object["cipher"] = cipher_.text();
  object["group"] = group_.text();
  object["key_shares"] = key_shares_.text();
  object["alpn"] = alpn_.text();
  object["client_hello_bytes"] = bytes_[0].text();
  object["server_flight_bytes"] = bytes_[1].text();
  object["client_handshake_bytes"] = bytes_[2].text();
  object["server_handshake_bytes"] = bytes_[3].text();
  object["method"] = method_.text();
  object["status"] = status_.text();
  return object;
}

Json Columns::names() const {
  Json object;
  object["cells"] = cells_.names();
  object["addresses"] = addresses_.names();
  object["words"] = words_.names();
  object["outcomes"] = strata::outcome_names;
  object["boundaries"] = strata::boundary_names;
  return object;
}

}  // namespace

Json page_rows(const Results& results, std::size_t most) {
  const std::vector<std::size_t> rows = choose(results, most);
  Nanos origin_ns = results.rows.empty() ? 0 : results.rows.front().connection.start_ns;
  for (const strata::Transaction& row : results.rows) {
    origin_ns = std::min(origin_ns, row.connection.start_ns);
  }
  Columns columns;
  for (const std::size_t row : rows) {
    columns.add(results.rows[row], origin_ns);
  }
  Json object;
  object["total"] = results.rows.size();
  object["count"] = rows.size();
  object["origin_ns"] = std::to_string(origin_ns);  // Unix epoch; no number of the page's language holds it
  object["names"] = columns.names();
  object["columns"] = columns.packed();
  return object;
}

}  // namespace tlstrata::report
