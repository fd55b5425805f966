#include "load/client_csv.h"

#include <fmt/format.h>

#include <iterator>

#include "base/iana.h"
#include "base/text.h"

namespace tlstrata::load {
namespace {

constexpr std::string_view header =
    "cell,block,client,server,start_ns,request,scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,"
    "request_send_ns,app_response_ns,total_ns,outcome,group,status\n";

void put(std::string& row, const std::optional<Nanos>& value) {
  row += ',';
  if (value) {
    fmt::format_to(std::back_inserter(row), "{}", *value);
  }
}

void put_row(std::string& row, const Record& record, const Results& results, const std::string& server) {
  const auto delay = record.between(Instant::scheduled, Instant::started);
  const bool started = record.start_ns != 0;
  row += ',';
  row += record.client.text();
  row += ',';
  row += server;
  put(row, started ? std::optional(record.start_ns) : std::nullopt);
  fmt::format_to(std::back_inserter(row), ",{}", record.instant(Instant::sent) != 0 ? 1 : 0);
  put(row, started ? record.start_ns - delay.value_or(0) : record.instant(Instant::scheduled) + results.epoch_ns);
  put(row, delay);
  put(row, record.between(Instant::started, Instant::connected));
  put(row, record.between(Instant::connected, Instant::handshaken));
  put(row, record.between(Instant::handshaken, Instant::sent));
  put(row, record.between(Instant::sent, Instant::first_byte));
  put(row, record.between(Instant::started, Instant::first_byte));
  row += ',';
  row += name(record.outcome);
  row += ',';
  row += record.group != 0 ? group_name(record.group) : "";
  put(row, record.status != 0 ? std::optional<Nanos>(record.status) : std::nullopt);
  row += '\n';
}

}  // namespace

Checked<void> write_client_csv(io::OutputFile& file, const Results& results, const Plan& plan,
                               const CsvLabels& labels) {
  if (auto written = file.write(header); !written) {
    return written;
  }
  std::string prefix = for_csv(labels.cell) + ",";
  if (labels.block) {
    prefix += std::to_string(*labels.block);
  }
  const std::string server = plan.server.text();
  std::string row;
  for (const Record& record : results.records) {
    row = prefix;
    put_row(row, record, results, server);
    if (auto written = file.write(row); !written) {
      return written;
    }
  }
  return file.finish();
}

}  // namespace tlstrata::load
