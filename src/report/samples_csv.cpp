#include "report/samples_csv.h"

#include <string_view>
#include <system_error>

#include "report/csv.h"
#include "report/output_file.h"

namespace tlstrata::report {
namespace {

constexpr std::string_view header =
    "cell,block,component,at_ns,cpu_ns,bytes_sent,bytes_received,packets_sent,packets_received,retransmissions";

void append_row(std::string& out, const ResourceSample& row) {
  append_field(out, row.cell);
  out += ',';
  append_number(out, row.block);
  out += ',';
  append_field(out, row.component);
  for (const Nanos time : {row.at_ns, row.cpu_ns}) {
    out += ',';
    append_number(out, time);
  }
  for (const std::uint64_t count :
       {row.bytes_sent, row.bytes_received, row.packets_sent, row.packets_received, row.retransmissions}) {
    out += ',';
    append_number(out, count);
  }
  out += '\n';
}

ResourceSample read_row(CsvReader& reader) {
  ResourceSample row;
  row.cell = reader.text();
  row.block = reader.number<std::uint32_t>();
  row.component = reader.text();
  for (Nanos* const time : {&row.at_ns, &row.cpu_ns}) {
    *time = reader.number<Nanos>();
  }
  for (std::uint64_t* const count :
       {&row.bytes_sent, &row.bytes_received, &row.packets_sent, &row.packets_received, &row.retransmissions}) {
    *count = reader.number<std::uint64_t>();
  }
  return row;
}

}  // namespace

Checked<void> write_samples_csv(const std::filesystem::path& path, std::span<const ResourceSample> rows) {
  std::string text(header);
  text += '\n';
  for (const ResourceSample& row : rows) {
    append_row(text, row);
  }
  return write_file(path, text);
}

Checked<std::vector<ResourceSample>> read_samples_csv(const std::filesystem::path& path) {
  if (std::error_code error; !std::filesystem::exists(path, error)) {
    return std::vector<ResourceSample>{};
  }
  const Checked<std::string> text = read_file(path, "give the folder of a lab run, or take the file away");
  if (!text) {
    return std::unexpected(text.error());
  }
  std::vector<ResourceSample> rows;
  const Checked<void> read =
      each_record(*text, path.string(), header, [&rows](CsvReader& reader) { rows.push_back(read_row(reader)); });
  if (!read) {
    return std::unexpected(read.error());
  }
  return rows;
}

}  // namespace tlstrata::report
