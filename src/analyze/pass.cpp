#include "analyze/pass.h"

#include <utility>

namespace tlstrata::analyze {

Checked<Pass> Pass::open(const Input& input, const tls::KeyLog& keys, tls::KeyLog* gathered, tcp::Share share,
                         Order order) {
  auto source = PacketSource::open(input.captures, gathered);
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
  pass.worker_ = std::make_unique<Worker>(keys, share, order);
  return pass;
}

bool Pass::advance(std::size_t packets) {
  for (std::size_t i = 0; i < packets; ++i) {
    const auto packet = source_.next();
    if (!packet) {
      worker_->finish();
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
