#include "report/transactions_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/iana.h"
#include "report/csv.h"
#include "report/output_file.h"
#include "tcp/address.h"

namespace tlstrata::report {
namespace {

constexpr std::string_view header_line =
    "cell,block,connection,request,client,server,start_ns,tcp_handshake_ns,tcp_to_tls_ns,tls_handshake_ns,"
    "tls_to_app_ns,app_response_ns,total_ns,last_byte_ns,outcome,boundary,tls_version,cipher,group,key_shares,hrr,"
    "resumed,early_data,alpn,client_hello_bytes,server_flight_bytes,client_handshake_bytes,server_handshake_bytes,"
    "method,status,hello_send_ns,retry_ns,server_wait_ns,server_flight_ns,client_finish_ns,request_ns,"
    "client_hello_complete_ns,inverted,client_segments,server_segments,client_flights,server_flights,round_trips,"
    "stalls,"
    "stall_ns,retransmitted_tcp_handshake,retransmitted_tcp_to_tls,retransmitted_tls_handshake,"
    "retransmitted_tls_to_app,retransmitted_app_response\n";
// Files of before there were flights end here.
constexpr std::string_view header_without_flights = header_line.substr(0, header_line.find(",client_segments"));

constexpr std::string_view remedy = "give a file that tlstrata wrote, or make it again with tlstrata analyze";

struct VersionName {
  std::uint16_t code;
  std::string_view name;
};
constexpr std::array version_names{VersionName{0x0304, "1.3"}, VersionName{0x0303, "1.2"},  VersionName{0x0302, "1.1"},
                                   VersionName{0x0301, "1.0"}, VersionName{0x0300, "SSL3"}, VersionName{0, ""}};

std::optional<std::uint16_t> code_point_of(std::string_view text) {
  std::uint16_t code = 0;
  if (!text.starts_with("0x") || text.size() != 6) {
    return std::nullopt;
  }
  const auto [end, status] = std::from_chars(text.data() + 2, text.data() + text.size(), code, 16);
  return status == std::errc{} && end == text.data() + text.size() ? std::optional(code) : std::nullopt;
}

std::optional<std::uint16_t> cipher_code(std::string_view text) {
  static const auto codes = [] {
    std::unordered_map<std::string, std::uint16_t> all;
    for (std::uint32_t code = 0; code <= 0xFFFF; ++code) {
      all.emplace(cipher_suite_name(static_cast<std::uint16_t>(code)), static_cast<std::uint16_t>(code));
    }
    return all;
  }();
  const auto found = codes.find(std::string(text));
  return found != codes.end() ? std::optional(found->second) : std::nullopt;
}

// Writes fields one after the other into memory that is large enough: a row has fifty, and a string's own bookkeeping
// for each would cost as much as the numbers.
class Cursor {
 public:
  explicit Cursor(char* at) : at_(at) {}

  void raw(char c) { *at_++ = c; }
  void raw(std::string_view text) { at_ = std::copy(text.begin(), text.end(), at_); }
  void comma() { raw(','); }
  template <std::integral T>
  void number(T value) {
    at_ = std::to_chars(at_, at_ + 24, value).ptr;
  }
  template <std::integral T>
  void number(const std::optional<T>& value) {
    if (value) {
      number(*value);
    }
  }
  void name(std::string_view known, std::uint16_t code) { known.empty() ? raw(code_point_text(code)) : raw(known); }
  void endpoint(const tcp::Endpoint& endpoint) { at_ = tcp::write(at_, endpoint); }
  [[nodiscard]] char* at() const { return at_; }

 private:
  char* at_;
};

// Text from outside, ready to stand in a field; `kept` holds it where it had to be changed.
std::string_view safe_field(std::string_view hostile, std::string& kept) {
  if (hostile.empty()) {
    return hostile;
  }
  append_field(kept, hostile);
  return kept;
}

std::string_view known_version_name(std::uint16_t version) {
  const auto known = std::ranges::find(version_names, version, &VersionName::code);
  return known == version_names.end() ? std::string_view{} : known->name;
}

void write_connection(Cursor& cursor, const strata::Connection& connection, std::string_view alpn) {
  if (connection.tls_version != 0) {
    cursor.name(known_version_name(connection.tls_version), connection.tls_version);
  }
  cursor.comma();
  if (connection.cipher_suite != 0) {
    cursor.name(known_cipher_suite_name(connection.cipher_suite), connection.cipher_suite);
  }
  cursor.comma();
  if (connection.group) {
    cursor.name(known_group_name(*connection.group), *connection.group);
  }
  cursor.comma();
  for (std::size_t i = 0; i < connection.key_shares.size(); ++i) {
    if (i != 0) {
      cursor.raw('+');
    }
    cursor.name(known_group_name(connection.key_shares[i]), connection.key_shares[i]);
  }
  for (const bool flag : {connection.hrr, connection.resumed, connection.early_data}) {
    cursor.raw(flag ? ",1" : ",0");
  }
  cursor.comma();
  cursor.raw(alpn);
  for (const auto& bytes : {connection.client_hello_bytes, connection.server_flight_bytes,
                            connection.client_handshake_bytes, connection.server_handshake_bytes}) {
    cursor.comma();
    cursor.number(bytes);
  }
}

void write_flights(Cursor& cursor, const strata::Transaction& row) {
  const strata::Flights& flights = row.connection.flights;
  for (const auto& count : {flights.segments[0], flights.segments[1], flights.flights[0], flights.flights[1],
                            flights.round_trips, flights.stalls}) {
    cursor.comma();
    cursor.number(count);
  }
  cursor.comma();
  cursor.number(flights.stall_ns);
  for (const auto& count : row.sent_again) {
    cursor.comma();
    cursor.number(count);
  }
}

template <typename Enum, std::size_t N>
Enum named(CsvReader& reader, const std::array<const char*, N>& names) {
  const std::string_view text = reader.text();
  for (std::size_t i = 0; i < N; ++i) {
    if (text == names[i]) {
      return static_cast<Enum>(i);
    }
  }
  reader.fail("an unknown name");
  return Enum{};
}

tcp::Endpoint endpoint(CsvReader& reader) {
  const auto parsed = tcp::parse_endpoint(reader.text());
  if (!parsed) {
    reader.fail(parsed.error().what);
    return {};
  }
  return *parsed;
}

std::uint16_t code_point(CsvReader& reader, std::optional<std::uint16_t> code) {
  if (!code) {
    reader.fail("an unknown name");
  }
  return code.value_or(0);
}

void read_connection(CsvReader& reader, strata::Connection& connection) {
  connection.tls_version = code_point(reader, tls_version_code(reader.text()));
  if (const std::string_view cipher = reader.text(); !cipher.empty()) {
    connection.cipher_suite = code_point(reader, cipher_code(cipher));
  }
  if (const std::string_view group = reader.text(); !group.empty()) {
    connection.group = code_point(reader, group_code_point(group));
  }
  std::string_view shares = reader.text();
  while (!shares.empty()) {
    const std::size_t plus = std::min(shares.find('+'), shares.size());
    connection.key_shares.push_back(code_point(reader, group_code_point(shares.substr(0, plus))));
    shares.remove_prefix(std::min(plus + 1, shares.size()));
  }
  connection.hrr = reader.flag();
  connection.resumed = reader.flag();
  connection.early_data = reader.flag();
  connection.alpn = reader.text();
  connection.client_hello_bytes = reader.optional_number<std::uint64_t>();
  connection.server_flight_bytes = reader.optional_number<std::uint64_t>();
  connection.client_handshake_bytes = reader.optional_number<std::uint64_t>();
  connection.server_handshake_bytes = reader.optional_number<std::uint64_t>();
}

void read_flights(CsvReader& reader, strata::Transaction& row) {
  strata::Flights& flights = row.connection.flights;
  for (auto* counts : {&flights.segments, &flights.flights}) {
    for (auto& count : *counts) {
      count = reader.optional_number<std::uint32_t>();
    }
  }
  flights.round_trips = reader.optional_number<std::uint32_t>();
  flights.stalls = reader.optional_number<std::uint32_t>();
  flights.stall_ns = reader.optional_number<Nanos>();
  for (auto& count : row.sent_again) {
    count = reader.optional_number<std::uint32_t>();
  }
}

strata::Transaction read_row(CsvReader& reader, bool has_flights) {
  strata::Transaction row;
  row.cell = reader.text();
  row.block = reader.optional_number<std::uint32_t>();
  row.connection.number = reader.number<std::uint64_t>();
  row.request = reader.number<std::uint32_t>();
  row.connection.client = endpoint(reader);
  row.connection.server = endpoint(reader);
  row.connection.start_ns = reader.number<Nanos>();
  for (auto& layer : row.layers) {
    layer = reader.optional_number<Nanos>();
  }
  row.total_ns = reader.optional_number<Nanos>();
  row.last_byte_ns = reader.optional_number<Nanos>();
  row.outcome = named<strata::Outcome>(reader, strata::outcome_names);
  row.boundary = named<strata::Boundary>(reader, strata::boundary_names);
  read_connection(reader, row.connection);
  row.method = reader.text();
  row.status = reader.optional_number<std::uint16_t>();
  for (auto& part : row.handshake_parts) {
    part = reader.optional_number<Nanos>();
  }
  row.request_ns = reader.optional_number<Nanos>();
  row.client_hello_complete_ns = reader.optional_number<Nanos>();
  row.inverted = reader.flag();
  if (has_flights) {
    read_flights(reader, row);
  }
  return row;
}

}  // namespace

std::string tls_version_name(std::uint16_t version) {
  const std::string_view known = known_version_name(version);
  return known.empty() && version != 0 ? code_point_text(version) : std::string(known);
}

std::optional<std::uint16_t> tls_version_code(std::string_view text) {
  for (const VersionName& version : version_names) {
    if (version.name == text) {
      return version.code;
    }
  }
  return code_point_of(text);
}

std::string_view transactions_header() {
  return header_line;
}

void append_transaction(std::string& out, const strata::Transaction& row) {
  std::array<std::string, 3> kept;
  const std::string_view cell = safe_field(row.cell, kept[0]);
  const std::string_view alpn = safe_field(row.connection.alpn, kept[1]);
  const std::string_view method = safe_field(row.method, kept[2]);
  constexpr std::size_t longest_rest = 52 * 24 + 2 * tcp::longest_endpoint + 128;
  constexpr std::size_t longest_group = 32;
  const std::size_t most =
      longest_rest + cell.size() + alpn.size() + method.size() + longest_group * (row.connection.key_shares.size() + 1);
  const std::size_t before = out.size();
  out.resize_and_overwrite(before + most, [&](char* text, std::size_t) {
    Cursor cursor(text + before);
    cursor.raw(cell);
    cursor.comma();
    cursor.number(row.block);
    cursor.comma();
    cursor.number(row.connection.number);
    cursor.comma();
    cursor.number(row.request);
    cursor.comma();
    cursor.endpoint(row.connection.client);
    cursor.comma();
    cursor.endpoint(row.connection.server);
    cursor.comma();
    cursor.number(row.connection.start_ns);
    for (const auto& layer : row.layers) {
      cursor.comma();
      cursor.number(layer);
    }
    cursor.comma();
    cursor.number(row.total_ns);
    cursor.comma();
    cursor.number(row.last_byte_ns);
    cursor.comma();
    cursor.raw(strata::name(row.outcome));
    cursor.comma();
    cursor.raw(strata::name(row.boundary));
    cursor.comma();
    write_connection(cursor, row.connection, alpn);
    cursor.comma();
    cursor.raw(method);
    cursor.comma();
    cursor.number(row.status);
    for (const auto& part : row.handshake_parts) {
      cursor.comma();
      cursor.number(part);
    }
    cursor.comma();
    cursor.number(row.request_ns);
    cursor.comma();
    cursor.number(row.client_hello_complete_ns);
    cursor.raw(row.inverted ? ",1" : ",0");
    write_flights(cursor, row);
    cursor.raw('\n');
    return static_cast<std::size_t>(cursor.at() - text);
  });
}

Checked<TransactionsWriter> TransactionsWriter::open(const std::filesystem::path& path, std::string_view further) {
  Checked<io::OutputFile> file = io::OutputFile::create(path.string());
  if (!file) {
    return std::unexpected(file.error());
  }
  TransactionsWriter writer(std::move(*file));
  writer.has_further_ = !further.empty();
  std::string header(header_line);
  if (writer.has_further_) {
    header.insert(header.size() - 1, fmt::format(",{}", further));
  }
  if (const Checked<void> written = writer.file_.write(header); !written) {
    return std::unexpected(written.error());
  }
  return writer;
}

Checked<void> TransactionsWriter::add(const strata::Transaction& row, std::string_view further) {
  line_.clear();
  append_transaction(line_, row);
  if (has_further_) {
    line_.back() = ',';
    append_field(line_, further);
    line_ += '\n';
  }
  return file_.write(line_);
}

Checked<void> TransactionsWriter::finish() {
  return file_.finish();
}

Checked<void> write_transactions_csv(const std::filesystem::path& path, std::span<const strata::Transaction> rows) {
  Checked<TransactionsWriter> writer = TransactionsWriter::open(path);
  if (!writer) {
    return std::unexpected(writer.error());
  }
  for (const strata::Transaction& row : rows) {
    if (const Checked<void> added = writer->add(row); !added) {
      return added;
    }
  }
  return writer->finish();
}

Checked<std::vector<strata::Transaction>> parse_transactions_csv(std::string_view text, const std::string& where) {
  std::vector<strata::Transaction> rows;
  const std::string_view whole = header_line.substr(0, header_line.size() - 1);
  const bool has_flights = text.starts_with(whole);
  const Checked<void> read = each_record(text, where, has_flights ? whole : header_without_flights,
                                         [&](CsvReader& reader) { rows.push_back(read_row(reader, has_flights)); });
  if (!read) {
    return std::unexpected(read.error());
  }
  return rows;
}

Checked<std::vector<strata::Transaction>> read_transactions_csv(const std::filesystem::path& path) {
  const Checked<std::string> text = read_file(path, std::string(remedy));
  if (!text) {
    return std::unexpected(text.error());
  }
  return parse_transactions_csv(*text, path.string());
}

}  // namespace tlstrata::report
