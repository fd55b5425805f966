// Several capture files as one input: packets merged by time, numbered in that order, secrets gathered.
//
// In:        paths, in any order.
// Out:       next(): the packet with the earliest stamp among the files' next ones (a file's own order is never
//            changed, as merged files may run backwards in time); secrets go to the key log as they come.
// Ownership: a packet holds until the next call, and so do its bytes unless packets_stay().
// Errors:    Complaint where a file can't be opened or is no capture; damage later in a file ends that file with a
//            warning.
// Threads:   one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/input.h"
#include "base/complaint.h"
#include "capture/file_source.h"
#include "capture/types.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

class PacketSource {
 public:
  // `keys` gets the embedded secrets; null: they are passed over.
  static Checked<PacketSource> open(const Input& input, tls::KeyLog* keys);

  // Null at the end.
  const capture::Packet* next();

  // True where packets' bytes hold as long as the source.
  [[nodiscard]] bool packets_stay() const;
  // False where no file is a pcapng: nothing is embedded.
  [[nodiscard]] bool may_hold_secrets() const;
  // How often next() waited for followed files to grow.
  [[nodiscard]] std::uint64_t waits() const;
  // Sums over the files. Complete once next() has returned nothing.
  [[nodiscard]] capture::FileCounts counts() const;
  [[nodiscard]] std::uint64_t truncated_files() const;
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct File {
    capture::FileSource source;
    const capture::Packet* ahead = nullptr;  // the source's newest; null: the file is at its end
    std::string damage;                      // why it ended early; empty: it did not
  };

  [[nodiscard]] Checked<void> begin();
  Checked<void> advance(File& file);
  const capture::Packet* next_of_several();
  [[nodiscard]] bool comes_later(std::size_t one, std::size_t other) const;
  const capture::Packet* give_out(std::size_t file);

  std::vector<File> files_;
  std::optional<std::size_t> lent_;   // of several: whose packet was given out last
  std::vector<std::size_t> waiting_;  // of several: the others that have packets, a heap with the earliest on top
  tls::KeyLog* keys_ = nullptr;
  bool begun_ = false;        // of one file: its first packet was given out
  capture::Packet numbered_;  // of several files: the packet that was given out, with a number of the whole
  std::uint64_t number_ = 0;
};

}  // namespace tlstrata::analyze
