// From capture files to transactions: opens the inputs, merges their packets by time, deals connections to workers, and
// puts the rows in order.
//
// In:        paths of captures ("-" for standard input) that together are one capture, and of key logs; keys embedded
//            in the captures are used too, wherever they stand in a file that can be read twice.
// Out:       all transactions, ordered by their connection's start (then by first packet, then by request), connections
//            numbered from 1 in that order; counts in which every packet, connection and transaction is found once.
// Ownership: the Analysis owns its rows.
// Errors:    Complaint where an input can't be opened or is no capture. Damage inside a capture is a warning: what
//            stands before it is analysed.
// Threads:   `threads` workers; the result is the same for any number. Inputs that can't be read twice (standard input,
//            compressed files) are read by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/selection.h"
#include "base/complaint.h"
#include "capture/types.h"
#include "strata/transaction.h"
#include "tcp/types.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Input {
  std::vector<std::string> captures;
  std::vector<std::string> key_logs;
  std::string filter;  // libpcap's language; empty: every packet
};

struct Options {
  unsigned threads = 1;
  Selection selection;  // of the connections whose rows are wanted
};

struct Counts {
  capture::FileCounts file;  // of all inputs; `truncated` where any is
  std::uint64_t truncated_files = 0;
  tcp::PacketCounts packets;   // by fate; with `filtered` the sum is file.packets
  std::uint64_t filtered = 0;  // packets that the filter left out
  tls::KeyLog::Counts keys;
  std::uint64_t connections = 0;     // selected or not
  std::uint64_t not_selected = 0;    // rows of connections that were not wanted
  strata::OutcomeCounts outcomes{};  // the sum is the number of rows
};

struct Analysis {
  std::vector<strata::Transaction> rows;
  Counts counts;
  std::vector<std::string> warnings;  // one line each, file names in them are hostile
};

Checked<Analysis> run(const Input& input, const Options& options);

// Adds up the counts of captures that were analysed one by one.
void add(Counts& sum, const Counts& part);

}  // namespace tlstrata::analyze
