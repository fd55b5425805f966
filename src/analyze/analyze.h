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

#include "base/complaint.h"
#include "capture/types.h"
#include "strata/transaction.h"
#include "tcp/types.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Input {
  std::vector<std::string> captures;
  std::vector<std::string> key_logs;
};

struct Options {
  unsigned threads = 1;
};

struct Counts {
  capture::FileCounts file;  // of all inputs; `truncated` where any is
  std::uint64_t truncated_files = 0;
  tcp::PacketCounts packets;  // by fate; the sum is file.packets
  tls::KeyLog::Counts keys;
  std::uint64_t connections = 0;
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
