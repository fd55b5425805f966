#include "report/transactions_csv.h"

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
    "client_hello_complete_ns,inverted\n";

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

std::optional<std::uint16_t> version_code(std::string_view text) {
  for (const VersionName& version : version_names) {
    if (version.name == text) {
      return version.code;
    }
  }
  return code_point_of(text);
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

void append_version(std::string& out, std::uint16_t version) {
  const auto known = std::ranges::find(version_names, version, &VersionName::code);
  if (known != version_names.end()) {
    out += known->name;
  } else {
    out += code_point_text(version);
  }
}

void append_connection(std::string& out, const strata::Connection& connection) {
  append_version(out, connection.tls_version);
  out += ',';
  if (connection.cipher_suite != 0) {
    append_cipher_suite_name(out, connection.cipher_suite);
  }
  out += ',';
  if (connection.group) {
    append_group_name(out, *connection.group);
  }
  out += ',';
  for (std::size_t i = 0; i < connection.key_shares.size(); ++i) {
    out += i == 0 ? "" : "+";
    append_group_name(out, connection.key_shares[i]);
  }
  for (const bool flag : {connection.hrr, connection.resumed, connection.early_data}) {
    out += flag ? ",1" : ",0";
  }
  out += ',';
  append_field(out, connection.alpn);
  for (const auto& bytes : {connection.client_hello_bytes, connection.server_flight_bytes,
                            connection.client_handshake_bytes, connection.server_handshake_bytes}) {
    out += ',';
    append_number(out, bytes);
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
  connection.tls_version = code_point(reader, version_code(reader.text()));
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

strata::Transaction read_row(CsvReader& reader) {
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
  return row;
}

}  // namespace

std::string tls_version_name(std::uint16_t version) {
  std::string name;
  append_version(name, version);
  return name;
}

std::string_view transactions_header() {
  return header_line;
}

void append_transaction(std::string& out, const strata::Transaction& row) {
  append_field(out, row.cell);
  out += ',';
  append_number(out, row.block);
  out += ',';
  append_number(out, row.connection.number);
  out += ',';
  append_number(out, row.request);
  out += ',';
  tcp::append(out, row.connection.client);
  out += ',';
  tcp::append(out, row.connection.server);
  out += ',';
  append_number(out, row.connection.start_ns);
  for (const auto& layer : row.layers) {
    out += ',';
    append_number(out, layer);
  }
  out += ',';
  append_number(out, row.total_ns);
  out += ',';
  append_number(out, row.last_byte_ns);
  out += ',';
  out += strata::name(row.outcome);
  out += ',';
  out += strata::name(row.boundary);
  out += ',';
  append_connection(out, row.connection);
  out += ',';
  append_field(out, row.method);
  out += ',';
  append_number(out, row.status);
  for (const auto& part : row.handshake_parts) {
    out += ',';
    append_number(out, part);
  }
  out += ',';
  append_number(out, row.request_ns);
  out += ',';
  append_number(out, row.client_hello_complete_ns);
  out += row.inverted ? ",1\n" : ",0\n";
}

Checked<TransactionsWriter> TransactionsWriter::open(const std::filesystem::path& path) {
  Checked<io::OutputFile> file = io::OutputFile::create(path.string());
  if (!file) {
    return std::unexpected(file.error());
  }
  TransactionsWriter writer(std::move(*file));
  if (const Checked<void> written = writer.file_.write(header_line); !written) {
    return std::unexpected(written.error());
  }
  return writer;
}

Checked<void> TransactionsWriter::add(const strata::Transaction& row) {
  line_.clear();
  append_transaction(line_, row);
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
  Checked<CsvReader> reader = CsvReader::open(text, where, header_line.substr(0, header_line.size() - 1));
  if (!reader) {
    return std::unexpected(reader.error());
  }
  std::vector<strata::Transaction> rows;
  while (true) {
    const Checked<bool> more = reader->next();
    if (!more) {
      return std::unexpected(more.error());
    }
    if (!*more) {
      return rows;
    }
    rows.push_back(read_row(*reader));
    if (const Checked<void> fields = reader->check(); !fields) {
      return std::unexpected(fields.error());
    }
  }
}

Checked<std::vector<strata::Transaction>> read_transactions_csv(const std::filesystem::path& path) {
  const Checked<std::string> text = read_file(path, std::string(remedy));
  if (!text) {
    return std::unexpected(text.error());
  }
  return parse_transactions_csv(*text, path.string());
}

}  // namespace tlstrata::report
