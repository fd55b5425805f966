// Packets of a network interface as they pass, stamped by the kernel in nanoseconds.
//
// In:        an interface of the network namespace that the thread calling open() is in; the capture stays there,
//            whatever thread goes on with it.
// Out:       either packets one by one, by next(), or a file, by start() and stop(): a thread of the capture's own then
//            writes them. Everything from open() to stop() is captured, both directions.
// Units:     nanoseconds of CLOCK_REALTIME, bytes.
// Ownership: a Packet's bytes lie in the kernel's ring and hold until the next call. The FileWriter given to start()
//            must live, and be left alone, until stop() has returned.
// Errors:    open(): a Complaint that says what is lacking. An interface that goes away, and a disk that fills up, end
//            the capture: next() and stop() say so. What the kernel or the interface lost is counted, never an error.
// Threads:   one calls; start() adds one.
// Source:    packet(7), TPACKET_V3, through libpcap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/complaint.h"
#include "capture/file_writer.h"
#include "capture/types.h"

namespace tlstrata::capture {

struct LiveOptions {
  std::string interface;
  // In the syntax of libpcap, checked by open(); empty: everything. `inbound` and `outbound` lose the first packets: libpcap
  // checks the ring's first block itself, and can't tell the direction there.
  std::string filter;
  // Bytes kept of a packet. Segmentation offloads make super-packets of 64 KiB and more, and the ring takes packets at
  // their true length, so there is nothing to gain by less. A filter of headers alone may ask for less.
  std::uint32_t snap_length = 262'144;
  std::uint32_t ring_bytes = 128U << 20U;  // what the kernel may hold before it drops
};

struct LiveCounts {
  std::uint64_t received = 0;           // handed out or written
  std::uint64_t dropped_by_kernel = 0;  // the ring was full
  // Lost before the kernel saw them, as /sys/class/net tells since open(). 0 in a network namespace without a /sys of its
  // own; the virtual interfaces (veth, lo, tun) that live there have no such losses.
  std::uint64_t dropped_by_interface = 0;
  std::uint64_t cut = 0;  // of those received: longer than the snap length, so incomplete
};

class LiveCapture {
 public:
  [[nodiscard]] static Checked<LiveCapture> open(const LiveOptions& options);

  LiveCapture(LiveCapture&& other) noexcept;
  LiveCapture& operator=(LiveCapture&&) = delete;
  LiveCapture(const LiveCapture&) = delete;
  LiveCapture& operator=(const LiveCapture&) = delete;
  // Ends a thread that was not stopped, without waiting for packets.
  ~LiveCapture();

  // What the writer's add_interface() is to be told.
  [[nodiscard]] InterfaceDescription description() const;

  // The next packet; std::nullopt where none came for about 10 ms.
  [[nodiscard]] Checked<std::optional<Packet>> next();

  // Writes every packet to `writer` (interface and statistics too) from here on.
  [[nodiscard]] Checked<void> start(FileWriter& writer);
  // Ends the capture once every packet that passed before the call is written, which takes some tens of milliseconds: the
  // kernel hands packets over in blocks. Without start(): the counts so far.
  [[nodiscard]] Checked<LiveCounts> stop();

 private:
  struct State;
  explicit LiveCapture(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tlstrata::capture
