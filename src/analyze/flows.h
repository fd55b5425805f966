// Which connections of a capture go on in another.
//
// In:        each capture by itself, read once: no TLS, no keys.
// Out:       scan_flows(): for each 4-tuple of a capture when it was seen and how it begins and ends; join_captures(): the
//            4-tuples that cross from one to another, and windows of captures in which they are whole. A 4-tuple too many
//            costs time, one too few a connection: one that was still open is taken to go on, until tcp::Limits would
//            have ended it.
// Units:     nanoseconds since the Unix epoch: the latest stamp of the file so far, as PacketSource merges by it.
// Ownership: values; 48 bytes a 4-tuple.
// Errors:    scan_flows(): a Complaint where the file can't be opened or is no capture. Damage later ends it, as in the
//            analysis.
// Threads:   no state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::analyze {

// A 4-tuple in one capture. Trivially copyable, so that it can be sent as it lies in memory.
struct FlowSpan {
  std::uint64_t flow = 0;  // tcp::stable_hash
  Nanos first_ns = 0;
  Nanos last_ns = 0;
  std::uint32_t first_syn = 0;   // sequence number of the SYN that it begins with; 0 where it begins otherwise
  std::uint32_t newest_syn = 0;  // of its last SYN; 0 where there is none
  bool begins_with_syn = false;
  bool has_syn = false;
  bool is_open = false;  // at the capture's end
};

struct FileFlows {
  std::vector<FlowSpan> flows;  // in any order
  Nanos end_ns = 0;             // latest stamp; 0: no packets
};

Checked<FileFlows> scan_flows(const std::string& path, const std::string& filter);

// Captures that are read together for the connections that cross between them.
struct Window {
  std::vector<std::uint32_t> files;               // ascending
  std::vector<std::vector<std::uint64_t>> flows;  // of each of them: those that cross
};

struct Joined {
  std::vector<std::vector<std::uint64_t>> crossing;  // of each capture; each is in exactly one window too
  std::vector<Window> windows;
};

// A capture is in at most two windows of each power of two, however long connections last.
Joined join_captures(std::span<const std::vector<FlowSpan>> captures);

}  // namespace tlstrata::analyze
