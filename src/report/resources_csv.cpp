#include "report/resources_csv.h"

#include "report/csv.h"
#include "report/output_file.h"

namespace tlstrata::report {
namespace {

// What there is from the first version on; folders of that have no more.
constexpr std::string_view first_columns =
    "cell,block,component,cpu_user_ns,cpu_system_ns,wall_ns,transactions,bytes_sent,bytes_received,packets_sent,"
    "packets_received,retransmissions,capture_packets,capture_dropped";
constexpr std::string_view later_columns =
    ",voluntary_switches,involuntary_switches,interface_dropped,listen_overflows";

constexpr const char* remedy = "give the folder of a lab run";

void append_row(std::string& out, const Resource& row) {
  append_field(out, row.cell);
  out += ',';
  append_number(out, row.block);
  out += ',';
  append_field(out, row.component);
  for (const auto& time : {row.cpu_user_ns, row.cpu_system_ns, row.wall_ns}) {
    out += ',';
    append_number(out, time);
  }
  for (const auto& count :
       {row.transactions, row.bytes_sent, row.bytes_received, row.packets_sent, row.packets_received,
        row.retransmissions, row.capture_packets, row.capture_dropped, row.voluntary_switches, row.involuntary_switches,
        row.interface_dropped, row.listen_overflows}) {
    out += ',';
    append_number(out, count);
  }
  out += '\n';
}

Resource read_row(CsvReader& reader) {
  Resource row;
  row.cell = reader.text();
  row.block = reader.number<std::uint32_t>();
  row.component = reader.text();
  for (auto* time : {&row.cpu_user_ns, &row.cpu_system_ns, &row.wall_ns}) {
    *time = reader.optional_number<Nanos>();
  }
  for (auto* count : {&row.transactions, &row.bytes_sent, &row.bytes_received, &row.packets_sent, &row.packets_received,
                      &row.retransmissions, &row.capture_packets, &row.capture_dropped, &row.voluntary_switches,
                      &row.involuntary_switches, &row.interface_dropped, &row.listen_overflows}) {
    *count = reader.optional_number<std::uint64_t>();
  }
  return row;
}

}  // namespace

Checked<void> write_resources_csv(const std::filesystem::path& path, std::span<const Resource> rows) {
  std::string text(first_columns);
  text += later_columns;
  text += '\n';
  for (const Resource& row : rows) {
    append_row(text, row);
  }
  return write_file(path, text);
}

Checked<std::vector<Resource>> read_resources_csv(const std::filesystem::path& path) {
  const Checked<std::string> text = read_file(path, remedy);
  if (!text) {
    return std::unexpected(text.error());
  }
  const std::string all_columns = std::string(first_columns) + std::string(later_columns);
  const bool has_all = text->starts_with(all_columns);
  std::vector<Resource> rows;
  const Checked<void> read = each_record(*text, path.string(), has_all ? all_columns : first_columns,
                                         [&rows](CsvReader& reader) { rows.push_back(read_row(reader)); });
  if (!read) {
    return std::unexpected(read.error());
  }
  return rows;
}

}  // namespace tlstrata::report
