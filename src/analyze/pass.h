// One worker with its own view of the input: opened once, then driven in turns.
//
// In:        the input, the keys, and which share of the connections is the worker's.
// Out:       connections that are over, from the worker; counts of packets.
// Ownership: owns its files and worker. The KeyLog must outlive it; `gathered`, where given, gets the secrets embedded
//            in the captures as they come.
// Errors:    open(): a Complaint where a file or the filter can't be used. Damage later is a warning of the source.
// Threads:   one at a time an object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/input.h"
#include "analyze/key_log_file.h"
#include "analyze/packet_source.h"
#include "analyze/worker.h"
#include "capture/filter.h"

namespace tlstrata::analyze {

class Pass {
 public:
  // `twin`, where given, reads the same input already: it is not opened again. Only without `gathered`.
  static Checked<Pass> open(const Input& input, const tls::KeyLog& keys, tls::KeyLog* gathered, tcp::Share share,
                            Order order, const Pass* twin = nullptr);

  // From here on these are read again whenever the captures have grown.
  void follow(std::vector<KeyLogFile> key_logs, tls::KeyLog& gathered);

  // Goes on by at most so many packets. False: the input is at its end, and so is every connection.
  bool advance(std::size_t packets);

  [[nodiscard]] Worker& worker() { return *worker_; }
  [[nodiscard]] const Worker& worker() const { return *worker_; }
  [[nodiscard]] const PacketSource& source() const { return source_; }
  // Packets that the filter left out.
  [[nodiscard]] std::uint64_t filtered() const { return filtered_; }

 private:
  explicit Pass(PacketSource source) : source_(std::move(source)) {}

  void read_key_logs();

  PacketSource source_;
  std::optional<capture::Filter> filter_;
  std::unique_ptr<Worker> worker_;
  std::uint64_t filtered_ = 0;
  std::optional<Nanos> end_ns_;
  std::vector<KeyLogFile> key_logs_;
  tls::KeyLog* gathered_ = nullptr;  // null: nothing is followed
  std::uint64_t waits_ = 0;          // of the source, at the last look
};

}  // namespace tlstrata::analyze
