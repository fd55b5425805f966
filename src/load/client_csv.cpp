#include "load/client_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <span>
#include <string_view>

#include "base/iana.h"
#include "base/text.h"

namespace tlstrata::load {
namespace {

constexpr std::string_view header =
    "cell,block,client,server,start_ns,request,scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,"
    "request_send_ns,app_response_ns,total_ns,outcome,group,status,"
    "mode,resumed,early_data,woken_at_ns,hello_at_ns,finished_at_ns,request_at_ns,response_woken_at_ns,last_byte_ns,"
    "tcp_to_tls_ns,hello_queue_ns,key_generation_ns,key_generation_shares_ns,hello_cpu_ns,hello_preempted_ns,hello_"
    "write_ns,"
    "key_agreement_ns,chain_ns,signature_ns,signing_ns,handshake_cpu_ns,handshake_preempted_ns,handshake_queue_ns,"
    "handshake_wait_ns";

void put(std::string& row, const std::optional<Nanos>& value) {
  row += ',';
  if (value) {
    fmt::format_to(std::back_inserter(row), "{}", *value);
  }
}

void put_key_generations(std::string& row, const Split& split) {
  const auto made = std::span(split.key_generation_ns).first(split.key_generations);
  fmt::format_to(std::back_inserter(row), ",{},{}", std::accumulate(made.begin(), made.end(), std::uint64_t{0}),
                 fmt::join(made, "+"));
}

void put_split(std::string& row, const Split& split) {
  if (!split.is_measured) {
    row += ",,,,,,,,,,,,,,";  // as many as there are columns
    return;
  }
  put(row, split.hello_queue_ns);
  put_key_generations(row, split);
  for (const std::uint32_t value :
       {split.hello_cpu_ns, split.hello_preempted_ns, split.hello_write_ns, split.key_agreement_ns, split.chain_ns,
        split.signature_ns, split.signing_ns, split.handshake_cpu_ns, split.handshake_preempted_ns,
        split.handshake_queue_ns, split.handshake_wait_ns}) {
    put(row, value);
  }
}

void put_instants(std::string& row, const Record& record) {
  for (const Instant which :
       {Instant::woken, Instant::hello, Instant::finished, Instant::request, Instant::response_woken}) {
    put(row, record.epoch_of(which));
  }
}

void put_row(std::string& row, const Record& record, const Results& results, const Plan& plan) {
  const auto delay = record.between(Instant::scheduled, Instant::started);
  const bool is_first = record.request == 1;
  const Instant origin = is_first ? Instant::started : Instant::request;
  row += ',';
  row += record.client.text();
  row += ',';
  row += plan.server.text();
  put(row, record.start_ns != 0 ? std::optional(record.start_ns) : std::nullopt);
  // A request that was never sent has no number on its connection.
  fmt::format_to(std::back_inserter(row), ",{}", record.instant(Instant::sent) != 0 ? record.request : 0);
  if (!is_first) {
    row += ',';
  } else {
    put(row, delay ? record.start_ns - *delay : record.instant(Instant::scheduled) + results.epoch_ns);
  }
  put(row, delay);
  put(row, record.between(Instant::started, Instant::woken));
  put(row, record.between(Instant::hello, Instant::handshaken));
  put(row, record.between(Instant::handshaken, Instant::sent));
  put(row, record.between(Instant::sent, Instant::first_byte));
  put(row, record.between(origin, Instant::first_byte));
  row += ',';
  row += name(record.outcome);
  row += ',';
  row += record.group != 0 ? group_name(record.group) : "";
  put(row, record.status != 0 ? std::optional<Nanos>(record.status) : std::nullopt);
  fmt::format_to(std::back_inserter(row), ",{},{:d},{:d}", plan.closed ? "closed" : "open", record.resumed,
                 record.early_data);
  put_instants(row, record);
  put(row, record.between(origin, Instant::last_byte));
  put(row, record.between(Instant::woken, Instant::hello));
  put_split(row, record.split);
}

}  // namespace

Checked<void> write_client_csv(io::OutputFile& file, const Results& results, const Plan& plan,
                               const CsvLabels& labels) {
  if (auto written = file.write(std::string(header) + (labels.rank ? ",rank\n" : "\n")); !written) {
    return written;
  }
  std::string prefix = for_csv(labels.cell) + ",";
  if (labels.block) {
    prefix += std::to_string(*labels.block);
  }
  std::string row;
  for (const Record* const record : results.records) {
    row = prefix;
    put_row(row, *record, results, plan);
    if (labels.rank) {
      put(row, record->rank);
    }
    row += '\n';
    if (auto written = file.write(row); !written) {
      return written;
    }
  }
  return file.finish();
}

}  // namespace tlstrata::load
