#include "analyze/pass.h"

#include <chrono>
#include <thread>
#include <utility>

namespace tlstrata::analyze {
namespace {

constexpr std::chrono::milliseconds key_log_delay{100};

}  // namespace

Checked<Pass> Pass::open(const Input& input, const tls::KeyLog& keys, tls::KeyLog* gathered, tcp::Share share,
                         Order order, const Pass* twin) {
  auto source = twin != nullptr ? Checked<PacketSource>(PacketSource::twin_of(twin->source_))
                                : PacketSource::open(input, gathered);
  if (!source) {
    return std::unexpected(source.error());
  }
  Pass pass(std::move(*source));
  if (!input.filter.empty()) {
    auto compiled = capture::Filter::compile(input.filter);
    if (!compiled) {
      return std::unexpected(compiled.error());
    }
    pass.filter_ = std::move(*compiled);
  }
  share.flows = input.flows;
  share.only_flows = input.only_flows;
  pass.end_ns_ = input.end_ns;
  pass.worker_ = std::make_unique<Worker>(keys, share, order);
  return pass;
}

void Pass::follow(std::vector<KeyLogFile> key_logs, tls::KeyLog& gathered) {
  key_logs_ = std::move(key_logs);
  gathered_ = &gathered;
  read_key_logs();
}

void Pass::read_key_logs() {
  for (KeyLogFile& file : key_logs_) {
    (void)file.read(*gathered_);  // it was readable; should that end, connections lack keys, which their rows say
  }
}

bool Pass::advance(std::size_t packets) {
  for (std::size_t i = 0; i < packets; ++i) {
    const auto packet = source_.next();
    if (gathered_ != nullptr && source_.waits() != waits_) {
      waits_ = source_.waits();
      // What was just read may be newer than its secrets, which an endpoint writes only once it has them.
      std::this_thread::sleep_for(key_log_delay);
      read_key_logs();
    }
    if (!packet) {
      worker_->finish(end_ns_);
      return false;
    }
    if (filter_ && !filter_->matches(*packet)) {
      ++filtered_;
    } else {
      worker_->feed(*packet);
    }
  }
  return true;
}

}  // namespace tlstrata::analyze
