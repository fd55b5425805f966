// What the components used while a block ran: their running totals, every half second.
//
// In:        a running client, proxy and origin. Out: totals since the block began, in order of time.
// Units:     nanoseconds, bytes, packets. at_ns is Unix time.
// Ownership: owns a thread until stop(); the bed must outlive it.
// Errors:    a sample that could not be taken (the client has just ended) is left out and counted.
// Threads:   made and stopped on one; it reads /proc on its own. A sample costs some 0.3 ms of CPU.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/complaint.h"
#include "report/samples_csv.h"

namespace tlstrata::lab {

inline constexpr Nanos sample_every_ns = nanos_per_second / 2;

class ResourceSampler {
 public:
  // `read` gives one sample a component, their totals counted from anywhere; cell, block and time are its business too.
  using Read = std::function<Checked<std::vector<report::ResourceSample>>()>;

  // The first sample, what all others are counted from, is taken before it returns.
  explicit ResourceSampler(Read read);
  ResourceSampler(const ResourceSampler&) = delete;
  ResourceSampler& operator=(const ResourceSampler&) = delete;
  ~ResourceSampler();

  struct Samples {
    std::vector<report::ResourceSample> rows;
    std::uint64_t missed = 0;
  };
  Samples stop();

 private:
  void run();
  void take();

  Read read_;
  std::vector<report::ResourceSample> first_;
  Samples samples_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tlstrata::lab
