// client.csv: one row a transaction, by the client's own clocks.
//
// Out:     columns cell,block,client,server,start_ns,request (the key that joins with transactions.csv), then
//          scheduled_ns,start_delay_ns,tcp_handshake_ns,tls_handshake_ns,request_send_ns,app_response_ns,total_ns,outcome,
//          group,status, then mode,resumed,early_data, instants, and the split of tcp_to_tls and tls_handshake; each is
//          told in docs/measurement.md. Rows by connection; an empty field is "absent".
// Units:   nanoseconds; columns whose names end with _at_ns, start_ns and scheduled_ns since the Unix epoch. start_ns is
//          read just before connect(), a few microseconds before the SYN's stamp in a capture. total_ns runs from there
//          to the response's first byte (of later requests of a connection from the request); from the intended start it
//          is total_ns + start_delay_ns.
// Errors:  Complaint of the file.
// Source:  design.md section 4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/complaint.h"
#include "io/output_file.h"
#include "load/load.h"

namespace tlstrata::load {

struct CsvLabels {
  std::string cell;                    // empty: none
  std::optional<std::uint32_t> block;  // absent: none
  bool rank = false;                   // Record::rank as a last column
};

// Finishes the file.
Checked<void> write_client_csv(io::OutputFile& file, const Results& results, const Plan& plan, const CsvLabels& labels);

}  // namespace tlstrata::load
