// Timed packets to a pcapng file, with the keys that decrypt them.
//
// In:        interfaces, then their packets, in any number and order; key logs and statistics whenever they are known.
// Out:       `<path>`, mode 0600: one section, little-endian, nanosecond stamps; the key log in Decryption Secrets
//            Blocks that stand before the first packet, where readers that go through the file once (TShark) want them.
// Units:     nanoseconds since the Unix epoch, bytes.
// Ownership: copies what it is given. Packets are put aside on the same disk as they come; interfaces and keys are held
//            in memory. finish() writes `<path>.tmp` from them and renames it; of a writer that dies before, nothing
//            stays.
// Errors:    a Complaint for every write that fails; the first is final.
// Threads:   one at a time.
// Source:    draft-ietf-opsawg-pcapng section 4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "capture/spool.h"
#include "capture/types.h"
#include "io/output_file.h"

namespace tlstrata::capture {

// What the section header says of the machine; empty: left out.
struct CaptureOrigin {
  std::string hardware;     // "AMD EPYC 7763, 2 cores"
  std::string os;           // "Linux 6.1.0"
  std::string application;  // "tlstrata 0.1.0"
};

struct InterfaceDescription {
  std::string name;    // "eth0"; empty: left out
  std::string filter;  // in the syntax of libpcap; empty: everything was captured
  LinkType link = LinkType::ethernet;
  std::uint32_t snap_length = 0;  // bytes; 0: no limit
};

// Running totals of an interface.
struct InterfaceStatistics {
  Nanos time_ns = 0;                       // when they were read
  std::uint64_t received = 0;              // packets that passed the filter, those dropped included
  std::uint64_t dropped_by_kernel = 0;     // the ring was full
  std::uint64_t dropped_by_interface = 0;  // lost before the kernel saw them
};

class FileWriter {
 public:
  [[nodiscard]] static Checked<FileWriter> create(const std::string& path, const CaptureOrigin& origin);

  // The number that its packets bear in Packet::interface.
  [[nodiscard]] std::uint32_t add_interface(const InterfaceDescription& description);
  // Complaint where the packet's interface was not added, its link type is not the interface's, its stamp is before 1970
  // or it is longer than FileParser takes.
  [[nodiscard]] Checked<void> write(const Packet& packet);
  [[nodiscard]] Checked<void> add_statistics(std::uint32_t interface, const InterfaceStatistics& statistics);
  // Whole lines of an NSS key log, before or after the packets that they decrypt.
  void add_secrets(std::span<const std::uint8_t> key_log);

  // Completes the file and gives it its name. Nothing can be written afterwards.
  [[nodiscard]] Checked<void> finish();

 private:
  FileWriter(std::string path, io::OutputFile output, Spool packets)
      : path_(std::move(path)), output_(std::move(output)), packets_(std::move(packets)) {}

  [[nodiscard]] Complaint refuse(const char* what) const;

  std::string path_;
  io::OutputFile output_;           // nothing is written to it before finish()
  std::vector<std::uint8_t> head_;  // section header and interfaces
  std::vector<std::uint8_t> secrets_;
  Spool packets_;  // and statistics
  std::vector<LinkType> interfaces_;
};

}  // namespace tlstrata::capture
