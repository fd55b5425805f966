#include "lab/resource_sampler.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace tlstrata::lab {
namespace {

// Totals only grow; what the kernel takes back of its estimate is no use.
template <typename Count>
Count since(Count now, Count then) {
  return now > then ? now - then : Count{0};
}

}  // namespace

ResourceSampler::ResourceSampler(Read read) : read_(std::move(read)) {
  if (auto first = read_()) {
    first_ = std::move(*first);
  }
  thread_ = std::thread([this] { run(); });
}

ResourceSampler::~ResourceSampler() {
  (void)stop();
}

ResourceSampler::Samples ResourceSampler::stop() {
  if (thread_.joinable()) {
    {
      const std::scoped_lock lock(mutex_);
      ends_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  return std::exchange(samples_, {});
}

void ResourceSampler::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::nanoseconds(sample_every_ns), [this] { return ends_; })) {
    take();
  }
}

void ResourceSampler::take() {
  auto now = read_();
  if (!now || now->size() != first_.size()) {
    ++samples_.missed;
    return;
  }
  for (std::size_t i = 0; i < now->size(); ++i) {
    report::ResourceSample& sample = (*now)[i];
    const report::ResourceSample& first = first_[i];
    sample.cpu_ns = since(sample.cpu_ns, first.cpu_ns);
    sample.bytes_sent = since(sample.bytes_sent, first.bytes_sent);
    sample.bytes_received = since(sample.bytes_received, first.bytes_received);
    sample.packets_sent = since(sample.packets_sent, first.packets_sent);
    sample.packets_received = since(sample.packets_received, first.packets_received);
    sample.retransmissions = since(sample.retransmissions, first.retransmissions);
  }
  std::ranges::move(*now, std::back_inserter(samples_.rows));
}

}  // namespace tlstrata::lab
