// From capture files to transactions: opens the inputs, merges their packets by time, deals connections to workers, and
// gives the rows in order.
//
// In:        paths of captures ("-" for standard input) that together are one capture, and of key logs; keys embedded
//            in the captures are used too, wherever they stand in a file that can be read twice.
// Out:       next(): the transactions, ordered by their connection's first packet, then by request, connections
//            numbered from 1 in that order; counts in which every packet, connection and transaction is found once.
// Ownership: a row holds until the next call, and may be moved from.
// Errors:    open(): Complaint where an input can't be opened or is no capture. Damage inside a capture is a warning: what
//            stands before it is analysed.
// Threads:   `threads` workers; the result is the same for any number, unless bytes wait for holes beyond what Limits of
//            tcp::Connections, which are a worker's, allow. Inputs that can't be read twice (standard input, pipes) are
//            read by one, since their secrets come while the packets do.
// Memory:    follows the connections that are open, and those that wait for an older one; not the input's size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/input.h"
#include "analyze/selection.h"
#include "analyze/worker.h"
#include "base/complaint.h"
#include "capture/types.h"
#include "strata/transaction.h"
#include "tcp/types.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

struct Options {
  unsigned threads = 1;
  Selection selection;            // of the connections whose rows are wanted
  Order order = Order::of_start;  // of_end: rows come as soon as their connection is over, by one worker
};

struct Counts {
  capture::FileCounts file;  // of all inputs; `truncated` where any is
  std::uint64_t truncated_files = 0;
  tcp::PacketCounts packets;   // by fate; with `filtered` the sum is file.packets, unless Input::flows leaves out some
  std::uint64_t filtered = 0;  // packets that the filter left out
  tls::KeyLog::Counts keys;
  std::uint64_t connections = 0;     // selected or not
  std::uint64_t not_selected = 0;    // rows of connections that were not wanted
  strata::OutcomeCounts outcomes{};  // the sum is the number of rows

  [[nodiscard]] std::uint64_t rows() const;
};

class Crew;
class Reader;

class Analysis {
 public:
  static Checked<Analysis> open(const Input& input, const Options& options);
  Analysis(Analysis&& other) noexcept;
  Analysis& operator=(Analysis&& other) = delete;  // the threads of the one before would lose what they read
  ~Analysis();

  // Null at the end.
  strata::Transaction* next();

  // Of the connection of the row that next() gave last.
  [[nodiscard]] const Opening& opening() const { return connection_->opened; }

  // Both are complete once next() has given null.
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const {
    return warnings_;
  }  // file names in them are hostile

 private:
  Analysis(Selection selection, std::unique_ptr<tls::KeyLog> keys);
  void finish();

  Selection selection_;
  std::unique_ptr<tls::KeyLog> keys_;  // stays where it is: workers point to it
  std::unique_ptr<Reader> reader_;     // so does this
  std::unique_ptr<Crew> crew_;
  Ended* connection_ = nullptr;
  std::size_t row_ = 0;  // the next one of connection_
  Counts counts_;
  std::vector<std::string> warnings_;
  bool opened_any_ = false;  // of the rows' connections
  bool closed_any_ = false;
};

// All of an input at once, for what is known to be small.
struct Collected {
  std::vector<strata::Transaction> rows;
  Counts counts;
  std::vector<std::string> warnings;
};
Checked<Collected> collect(const Input& input, const Options& options);

// Adds up the counts of captures that were analysed one by one.
void add(Counts& sum, const Counts& part);

}  // namespace tlstrata::analyze
