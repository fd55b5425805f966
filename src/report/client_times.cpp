#include "report/client_times.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/iana.h"
#include "base/nanos.h"
#include "report/csv.h"
#include "report/output_file.h"
#include "stats/describe.h"
#include "tcp/address.h"

namespace tlstrata::report {
namespace {

constexpr std::string_view client_header =
    "cell,block,client,server,start_ns,request,scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,"
    "request_send_ns,app_response_ns,total_ns,outcome,group,status,"
    "mode,resumed,early_data,woken_at_ns,hello_at_ns,finished_at_ns,request_at_ns,response_woken_at_ns,last_byte_ns,"
    "tcp_to_tls_ns,hello_queue_ns,key_generation_ns,key_generation_shares_ns,hello_cpu_ns,hello_preempted_ns,"
    "hello_write_ns,key_agreement_ns,chain_ns,signature_ns,signing_ns,handshake_cpu_ns,handshake_preempted_ns,"
    "handshake_queue_ns,handshake_wait_ns";
constexpr std::string_view sides_header = "cell,block,client,server,start_ns,request,client_ns,path_ns,server_ns";
constexpr const char* remedy = "make the folder anew with tlstrata lab, or take the file away";

// The client reads its clock just before the SYN leaves; its port is not used again that quickly.
constexpr Nanos same_connection_ns = nanos_per_second;

// Text of a file that may be missing.
Checked<std::optional<std::string>> text_of(const std::filesystem::path& path) {
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    return std::nullopt;
  }
  Checked<std::string> text = read_file(path, remedy);
  if (!text) {
    return std::unexpected(text.error());
  }
  return std::optional(std::move(*text));
}

bool is_of(const strata::Transaction& row, const RowClass& main) {
  const strata::Connection& connection = row.connection;
  return row.outcome == strata::Outcome::complete && row.request == 1 && row.has_all_layers() &&
         connection.hrr == main.hrr && connection.resumed == main.resumed && connection.early_data == main.early_data &&
         (connection.group ? group_name(*connection.group) : std::string()) == main.group;
}

// The captured rows of the cells' main classes, found by what the client knows of a connection.
class Captured {
 public:
  Captured(std::span<const strata::Transaction> rows, const Summary& summary) {
    std::map<std::string_view, const RowClass*> main;
    for (const CellSummary& cell : summary.cells) {
      if (cell.main() != nullptr) {
        main[cell.name] = &cell.main()->rows;
      }
    }
    for (const strata::Transaction& row : rows) {
      const auto found = main.find(row.cell);
      if (found != main.end() && is_of(row, *found->second)) {
        rows_[key(row.cell, row.block, tcp::to_string(row.connection.client))].push_back(&row);
      }
    }
  }

  // nullptr: there is none.
  [[nodiscard]] const strata::Transaction* find(std::string_view cell, std::optional<std::uint32_t> block,
                                                std::string_view client, Nanos start_ns) const {
    const auto found = rows_.find(key(cell, block, client));
    if (found == rows_.end()) {
      return nullptr;
    }
    const auto distance = [start_ns](const strata::Transaction* row) {
      return std::abs(row->connection.start_ns - start_ns);
    };
    const strata::Transaction* const nearest = *std::ranges::min_element(found->second, {}, distance);
    return distance(nearest) <= same_connection_ns ? nearest : nullptr;
  }

 private:
  static std::string key(std::string_view cell, std::optional<std::uint32_t> block, std::string_view client) {
    std::string text(cell);
    text += '\n';
    append_number(text, block);
    text += '\n';
    text += client;
    return text;
  }

  std::unordered_map<std::string, std::vector<const strata::Transaction*>> rows_;
};

// A record of client.csv, as far as it is looked at.
struct ClientRecord {
  std::string cell;
  std::optional<std::uint32_t> block;
  std::string client;
  std::optional<Nanos> start_ns;
  std::uint32_t request = 0;
  std::optional<Nanos> start_delay_ns;
  std::optional<Nanos> woken_at_ns;
  std::vector<Nanos> key_generation_ns;  // by share
  // hello_queue, hello_cpu, hello_preempted; then key_agreement to handshake_wait.
  std::array<std::optional<Nanos>, 3> hello;
  std::array<std::optional<Nanos>, 8> handshake;

  [[nodiscard]] bool has_split() const {
    const auto is_there = [](const auto& value) { return value.has_value(); };
    return start_ns && request == 1 && woken_at_ns && std::ranges::all_of(hello, is_there) &&
           std::ranges::all_of(handshake, is_there);
  }
};
constexpr std::array hello_parts{"hello_queue", "hello_cpu", "hello_preempted"};
constexpr std::array handshake_parts{"key_agreement",   "chain",         "signature",
                                     "signing",         "handshake_cpu", "handshake_preempted",
                                     "handshake_queue", "handshake_wait"};
constexpr std::size_t rest_of_cpu = 4;

std::vector<Nanos> numbers_of(std::string_view joined, CsvReader& reader) {
  std::vector<Nanos> numbers;
  while (!joined.empty()) {
    const std::string_view one = joined.substr(0, joined.find('+'));
    Nanos value = 0;
    const auto [end, status] = std::from_chars(one.data(), one.data() + one.size(), value);
    if (status != std::errc{} || end != one.data() + one.size()) {
      reader.fail("not whole numbers joined with +");
      return {};
    }
    numbers.push_back(value);
    joined.remove_prefix(std::min(joined.size(), one.size() + 1));
  }
  return numbers;
}

void skip(CsvReader& reader, int fields) {
  for (int i = 0; i < fields; ++i) {
    (void)reader.text();
  }
}

ClientRecord read_client(CsvReader& reader) {
  ClientRecord record;
  record.cell = reader.text();
  record.block = reader.optional_number<std::uint32_t>();
  record.client = reader.text();
  skip(reader, 1);
  record.start_ns = reader.optional_number<Nanos>();
  record.request = reader.number<std::uint32_t>();
  skip(reader, 1);
  record.start_delay_ns = reader.optional_number<Nanos>();
  skip(reader, 11);
  record.woken_at_ns = reader.optional_number<Nanos>();
  skip(reader, 6);
  record.hello[0] = reader.optional_number<Nanos>();
  skip(reader, 1);
  record.key_generation_ns = numbers_of(reader.text(), reader);
  record.hello[1] = reader.optional_number<Nanos>();
  record.hello[2] = reader.optional_number<Nanos>();
  skip(reader, 1);
  for (auto& part : record.handshake) {
    part = reader.optional_number<Nanos>();
  }
  return record;
}

// A layer's parts in the making, in the order of their first value.
class Parts {
 public:
  void add(std::string_view name, Nanos value) {
    const auto found = std::ranges::find(parts_, name, &std::pair<std::string, std::vector<double>>::first);
    auto& values =
        found != parts_.end() ? found->second : parts_.emplace_back(std::string(name), std::vector<double>()).second;
    values.push_back(static_cast<double>(value));
  }

  std::vector<TimePart> describe() {
    std::vector<TimePart> described;
    for (auto& [name, values] : parts_) {
      TimePart part{name, values.size(), 0, 0, stats::mean(values)};
      std::array<double, 2> quantiles{};
      stats::quantiles_of(values, std::array{0.5, 0.95}, quantiles);
      part.p50 = quantiles[0];
      part.p95 = quantiles[1];
      described.push_back(std::move(part));
    }
    return described;
  }

 private:
  std::vector<std::pair<std::string, std::vector<double>>> parts_;
};

struct Gathered {
  std::uint64_t n = 0;
  Parts tcp_to_tls;
  Parts tls_handshake;
  Parts start_delay;

  void add(const ClientRecord& record, const strata::Transaction& captured);
};

void Gathered::add(const ClientRecord& record, const strata::Transaction& captured) {
  const strata::Connection& connection = captured.connection;
  ++n;
  Nanos rest = *captured.layer(strata::Layer::tcp_to_tls);
  const auto take = [&rest](Parts& parts, std::string_view name, Nanos value) {
    parts.add(name, value);
    rest -= value;
  };
  take(tcp_to_tls, "waking", *record.woken_at_ns - connection.start_ns - *captured.layer(strata::Layer::tcp_handshake));
  take(tcp_to_tls, hello_parts[0], *record.hello[0]);
  const bool has_names = connection.key_shares.size() == record.key_generation_ns.size();
  for (std::size_t i = 0; i < record.key_generation_ns.size(); ++i) {
    const std::string share = has_names ? group_name(connection.key_shares[i]) : "share " + std::to_string(i + 1);
    take(tcp_to_tls, "key_generation " + share, record.key_generation_ns[i]);
  }
  take(tcp_to_tls, hello_parts[1], *record.hello[1]);
  take(tcp_to_tls, hello_parts[2], *record.hello[2]);
  tcp_to_tls.add("system_call", rest);
  // The client's clock ends where the Finished's system call returns, the layer where its packet left, earlier in it.
  rest = *captured.layer(strata::Layer::tls_handshake);
  for (const auto& part : record.handshake) {
    rest -= *part;
  }
  for (std::size_t i = 0; i < handshake_parts.size(); ++i) {
    tls_handshake.add(handshake_parts[i], *record.handshake[i] + (i == rest_of_cpu ? rest : 0));
  }
  if (record.start_delay_ns) {
    start_delay.add("start_delay", *record.start_delay_ns);
  }
}

CellSummary* cell_named(Summary& summary, std::string_view name) {
  const auto found = std::ranges::find(summary.cells, name, &CellSummary::name);
  return found == summary.cells.end() ? nullptr : &*found;
}

Checked<void> add_split(const std::filesystem::path& path, std::span<const strata::Transaction> rows,
                        Summary& summary) {
  const Checked<std::optional<std::string>> text = text_of(path);
  if (!text || !*text) {
    return text ? Checked<void>() : std::unexpected(text.error());
  }
  const Captured captured(rows, summary);
  std::map<std::string, Gathered> gathered;
  const Checked<void> read = each_record(**text, path.string(), client_header, [&](CsvReader& reader) {
    const ClientRecord record = read_client(reader);
    if (!record.has_split()) {
      return;
    }
    if (const auto* const row = captured.find(record.cell, record.block, record.client, *record.start_ns)) {
      gathered[record.cell].add(record, *row);
    }
  });
  if (!read) {
    return read;
  }
  for (auto& [name, cell] : gathered) {
    std::vector<TimePart> delay = cell.start_delay.describe();
    cell_named(summary, name)->client_split =
        ClientSplit{cell.n, cell.tcp_to_tls.describe(), cell.tls_handshake.describe(),
                    delay.empty() ? TimePart{} : std::move(delay.front())};
  }
  return {};
}

Checked<void> add_sides(const std::filesystem::path& path, Summary& summary) {
  const Checked<std::optional<std::string>> text = text_of(path);
  if (!text || !*text) {
    return text ? Checked<void>() : std::unexpected(text.error());
  }
  using Columns = std::array<std::vector<double>, 3>;
  std::map<std::string, Columns> gathered;
  const Checked<void> read = each_record(**text, path.string(), sides_header, [&](CsvReader& reader) {
    Columns& columns = gathered[std::string(reader.text())];
    skip(reader, 5);
    for (std::vector<double>& column : columns) {
      column.push_back(static_cast<double>(reader.number<Nanos>()));
    }
  });
  if (!read) {
    return read;
  }
  for (auto& [name, columns] : gathered) {
    if (CellSummary* const cell = cell_named(summary, name)) {
      const std::uint64_t n = columns[0].size();
      cell->sides = Sides{n, stats::median_of(columns[0]), stats::median_of(columns[1]), stats::median_of(columns[2])};
    }
  }
  return {};
}

}  // namespace

Checked<void> add_client_times(const std::filesystem::path& folder, std::span<const strata::Transaction> rows,
                               Summary& summary) {
  const Checked<void> split = add_split(folder / "client.csv", rows, summary);
  return split ? add_sides(folder / "sides.csv", summary) : split;
}

}  // namespace tlstrata::report
