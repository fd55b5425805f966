// resources.csv: CPU, bytes and packets of each component in each block.
//
// In/Out:    one row per (cell, block, component of client, proxy, origin).
// Units:     nanoseconds, bytes, packets, segments.
// Absence:   an empty field is "not measured", never zero.
// Errors:    Complaint; the reader's names line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::report {

struct Resource {
  std::string cell;
  std::uint32_t block = 0;
  std::string component;  // "client", "proxy", "origin"
  std::optional<Nanos> cpu_user_ns;
  std::optional<Nanos> cpu_system_ns;
  std::optional<Nanos> wall_ns;               // time that the CPU figures span
  std::optional<std::uint64_t> transactions;  // that the component served in it
  std::optional<std::uint64_t> bytes_sent;    // by its interfaces
  std::optional<std::uint64_t> bytes_received;
  std::optional<std::uint64_t> packets_sent;
  std::optional<std::uint64_t> packets_received;
  std::optional<std::uint64_t> retransmissions;  // TCP segments that it sent again
  std::optional<std::uint64_t> capture_packets;  // captured on its interface
  std::optional<std::uint64_t> capture_dropped;
  std::optional<std::uint64_t> voluntary_switches;    // of its threads: they waited
  std::optional<std::uint64_t> involuntary_switches;  // they were made to
  std::optional<std::uint64_t> interface_dropped;     // packets, both directions
  std::optional<std::uint64_t> listen_overflows;      // connections that a full accept queue turned away
};

Checked<void> write_resources_csv(const std::filesystem::path& path, std::span<const Resource> rows);
Checked<std::vector<Resource>> read_resources_csv(const std::filesystem::path& path);

}  // namespace tlstrata::report
