// samples.csv: CPU, bytes and packets of each component through each block, for a time line.
//
// In/Out:    a row every half second per component of client, proxy, origin: totals since the block began.
// Units:     nanoseconds, bytes, packets, segments; at_ns is Unix time.
// Absence:   blocks shorter than half a second have no row; a folder may have no such file.
// Errors:    Complaint; the reader's names line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"

namespace tlstrata::report {

struct ResourceSample {
  std::string cell;
  std::uint32_t block = 0;
  std::string component;  // "client", "proxy", "origin"
  Nanos at_ns = 0;
  Nanos cpu_ns = 0;  // user and system; the client's with the spinning that keeps its starts on time
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t retransmissions = 0;
};

Checked<void> write_samples_csv(const std::filesystem::path& path, std::span<const ResourceSample> rows);
// Empty where there is no such file.
Checked<std::vector<ResourceSample>> read_samples_csv(const std::filesystem::path& path);

}  // namespace tlstrata::report
