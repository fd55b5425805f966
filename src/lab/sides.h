// Where each transaction's time was spent: in the client, on the path, in the server. From two captures with one clock.
//
// In:        rows of the client's captures, then the proxy's captures of the same blocks.
// Out:       sides.csv, a row a transaction; medians by cell.
// Units:     nanoseconds. client_ns is what the client's interface saw the client take: tcp_to_tls, client_finish and
//            tls_to_app. server_ns is what the proxy's interface saw the proxy take, the origin behind it included:
//            tcp_handshake, server_wait, server_flight and app_response. path_ns is the rest of the total: both ways of each
//            round trip, and the kernels' receiving.
// Absence:   transactions that are not complete, later requests of a connection and those with a HelloRetryRequest have
//            no row.
// Ownership: a row of about 100 bytes a transaction is kept until write().
// Errors:    Complaint of a capture or the disk.
// Threads:   one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"
#include "lab/manifest.h"
#include "strata/transaction.h"

namespace tlstrata::lab {

struct CellSides {
  std::string cell;
  std::uint64_t n = 0;
  Nanos client_ns = 0;  // medians
  Nanos path_ns = 0;
  Nanos server_ns = 0;
};

// What the client's capture says of a transaction.
struct SideRow {
  tcp::Endpoint client;
  tcp::Endpoint server;
  Nanos start_ns = 0;  // Unix epoch
  Nanos client_ns = 0;
  Nanos total_ns = 0;
};

class Sides {
 public:
  // A row of a client's capture, its cell and block set.
  void add(const strata::Transaction& row);

  // Analyses the proxy's captures and writes sides.csv; nothing where there are none. Cells in the manifest's order.
  Checked<std::vector<CellSides>> write(const std::filesystem::path& folder, const Manifest& manifest,
                                        unsigned threads);

 private:
  std::map<std::pair<std::string, std::uint32_t>, std::vector<SideRow>> rows_;  // by cell and block
};

}  // namespace tlstrata::lab
