// The packets of an input that a filter leaves, and the key logs that grow beside them.
//
// In:        an input.
// Out:       next(): the packets, in the order of PacketSource; what the filter left out is counted.
// Ownership: as PacketSource. `gathered`, where given, gets the secrets embedded in the captures, and those of followed key
//            logs, as they come; it must outlive the reader.
// Errors:    open(): a Complaint where a file or the filter can't be used. Damage later is a warning of the source.
// Threads:   one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/input.h"
#include "analyze/key_log_file.h"
#include "analyze/packet_source.h"
#include "base/complaint.h"
#include "capture/filter.h"
#include "tls/key_log.h"

namespace tlstrata::analyze {

class Reader {
 public:
  static Checked<Reader> open(const Input& input, tls::KeyLog* gathered);

  // From here on these are read again whenever the captures have grown.
  void follow(std::vector<KeyLogFile> key_logs, tls::KeyLog& gathered);

  // Null at the end.
  const capture::Packet* next() {
    while (true) {
      const auto* const packet = source_.next();
      if (gathered_ != nullptr && source_.waits() != waits_) [[unlikely]] {
        catch_up();
      }
      if (packet == nullptr) {
        return nullptr;
      }
      walked_bytes_ += packet->data.size();
      if (!filter_ || filter_->matches(*packet)) {
        return packet;
      }
      ++filtered_;
    }
  }

  [[nodiscard]] const PacketSource& source() const { return source_; }
  // Of all packets so far, those that the filter left out too.
  [[nodiscard]] std::uint64_t walked_bytes() const { return walked_bytes_; }
  // Packets that the filter left out.
  [[nodiscard]] std::uint64_t filtered() const { return filtered_; }

 private:
  explicit Reader(PacketSource source) : source_(std::move(source)) {}

  void catch_up();
  void read_key_logs();

  PacketSource source_;
  std::optional<capture::Filter> filter_;
  std::uint64_t filtered_ = 0;
  std::uint64_t walked_bytes_ = 0;
  std::vector<KeyLogFile> key_logs_;
  tls::KeyLog* gathered_ = nullptr;  // null: nothing is followed
  std::uint64_t waits_ = 0;          // of the source, at the last look
};

}  // namespace tlstrata::analyze
